// The first screen where the browser gives no GPU: the picture plays, and the button says what to
// do about it.
import { Play } from 'lucide-react'
import { useState } from 'react'
import { Failure } from '../notices/Failure.tsx'
import { WatchRecording } from '../replay/WatchRecording.tsx'

export function WithoutGpu() {
  const [is_open, setOpen] = useState(false)
  return (
    <>
      <div className="forest-ways">
        <button
          type="button"
          className="primary"
          data-testid="train-here"
          aria-expanded={is_open}
          onClick={() => setOpen(!is_open)}
        >
          <Play className="icon" aria-hidden="true" /> Train on this machine
        </button>
        <WatchRecording />
      </div>
      {is_open ? <Failure /> : null}
      <p className="soft" data-testid="lacks-gpu">
        Training needs a GPU, and this browser gives the page none yet. The lessons and recorded
        runs work without one.
      </p>
    </>
  )
}
