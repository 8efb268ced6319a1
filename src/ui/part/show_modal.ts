// Opens a modal dialog; the page behind it keeps its width.

/** Before the page can no longer be scrolled (kit/base.css): where a scrollbar takes room its place
 * stays, and none is made where it takes none. */
export function keepWidth(): void {
  const page = document.documentElement
  page.style.scrollbarGutter = innerWidth > page.clientWidth ? 'stable' : ''
}

export function showModal(dialog: HTMLDialogElement | null): void {
  keepWidth()
  dialog?.showModal()
}
