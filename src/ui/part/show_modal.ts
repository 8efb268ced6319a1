// Opens a modal dialog; the page behind it keeps its width, and Back closes it.
import { laidOver } from '../kit/way_back.ts'

/** Before the page can no longer be scrolled (kit/base.css): where a scrollbar takes room its place
 * stays, and none is made where it takes none. */
export function keepWidth(): void {
  const page = document.documentElement
  page.style.scrollbarGutter = innerWidth > page.clientWidth ? 'stable' : ''
}

/** Returns what says that a dialog is gone, where it was just taken away. */
export function showModal(dialog: HTMLDialogElement | null): () => void {
  if (!dialog) return () => {}
  keepWidth()
  dialog.showModal()
  const isOpen = () => dialog.open && dialog.isConnected
  const leave = laidOver({ isOpen, close: () => dialog.close() })
  dialog.addEventListener('close', leave, { once: true })
  return leave
}
