// Opens a modal dialog; the page behind it keeps its width.

/** The page cannot be scrolled behind it (kit/base.css): where a scrollbar took room its place
 * stays, and none is made where it took none. */
export function showModal(dialog: HTMLDialogElement | null): void {
  const page = document.documentElement
  page.style.scrollbarGutter = innerWidth > page.clientWidth ? 'stable' : ''
  dialog?.showModal()
}
