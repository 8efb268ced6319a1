// Draws a dialog of the page: the browser's own, so focus stays inside, Escape closes and focus
// goes back where it was.
import { type MouseEvent, type ReactNode, useEffect, useRef } from 'react'
import { useStore } from 'zustand'
import { closeDialog, type DialogName, dialogStore } from '../open/dialogs.ts'
import { showModal } from './show_modal.ts'

/** A press beside the dialog closes it. */
function onBackdrop(event: MouseEvent<HTMLDialogElement>): void {
  if (event.target !== event.currentTarget) return
  const { left, right, top, bottom } = event.currentTarget.getBoundingClientRect()
  const { clientX, clientY } = event
  if (clientX < left || clientX > right || clientY < top || clientY > bottom)
    event.currentTarget.close()
}

interface ModalProps {
  readonly name: DialogName
  readonly label: string
  readonly children: ReactNode
}

/** What is inside exists only while it is open. */
export function Modal({ name, label, children }: ModalProps) {
  const isOpen = useStore(dialogStore, ({ open }) => open === name)
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    if (isOpen && !dialog.current?.open) showModal(dialog.current)
    if (!isOpen) dialog.current?.close()
  }, [isOpen])
  return (
    <dialog
      ref={dialog}
      className={`${name}-dialog`}
      aria-label={label}
      data-testid={`${name}-dialog`}
      onClose={() => closeDialog(name)}
      onPointerDown={onBackdrop}
    >
      {isOpen ? children : null}
    </dialog>
  )
}
