// Draws the button that shares, and its dialog. What is inside is loaded when it is first opened.
import { Share2 } from 'lucide-react'
import { useRef, useState } from 'react'
import { lazyPart, Opening } from '../part/lazy_part.tsx'
import { showModal } from '../part/show_modal.ts'

const ShareForm = lazyPart(async () => (await import('./ShareForm.tsx')).ShareForm, {
  name: 'Share',
  fallback: <Opening />,
})

export function ShareDialog() {
  const dialog = useRef<HTMLDialogElement>(null)
  // Counts openings, so that each shows the link of its moment.
  const [opened, setOpened] = useState(0)
  const open = () => {
    setOpened(opened + 1)
    showModal(dialog.current)
  }
  return (
    <>
      <button
        type="button"
        id="share-options"
        data-testid="share-options"
        className="plain"
        aria-haspopup="dialog"
        aria-label="Share with options"
        title="Share with options: your curves, a view for a class, a frame for a page"
        onClick={open}
      >
        <Share2 className="icon" aria-hidden="true" />
      </button>
      <dialog ref={dialog} className="share" aria-label="Share" data-testid="share">
        {opened > 0 ? <ShareForm key={opened} close={() => dialog.current?.close()} /> : null}
      </dialog>
    </>
  )
}
