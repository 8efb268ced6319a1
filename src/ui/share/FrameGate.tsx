// Waits, in a frame of another site, for a click that says what it does: what lies over or
// around a frame is that site's.
import { Play } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { isForeignFrame } from './foreign_frame.ts'

/** Its children, after a first click where the page is in a frame of another site. */
export function FrameGate({ children }: { readonly children: ReactNode }) {
  const [isOpen, setOpen] = useState(() => !isForeignFrame(window))
  if (isOpen) return children
  return (
    <main className="frame-gate" data-testid="frame-gate">
      <h1>Understory</h1>
      <p>
        This page is shown inside another site. It trains a small model on your own GPU when you
        press Train; nothing runs before that, and nothing is sent anywhere.
      </p>
      <button type="button" className="primary" onClick={() => setOpen(true)}>
        <Play className="icon" aria-hidden="true" /> Use my GPU here
      </button>
      <p>
        <a href={location.href} target="_blank" rel="noopener">
          Open it in its own window
        </a>
      </p>
    </main>
  )
}
