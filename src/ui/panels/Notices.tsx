import { X } from 'lucide-react'
import { useState } from 'react'
import type { LabState } from '../../lab/store.ts'
import { useLab } from '../run.ts'

const selectNotices = (state: LabState) => state.notices

/** What a link asked for and did not get. Dismissed until there are new ones. */
export function Notices() {
  const notices = useLab(selectNotices)
  const [dismissed, setDismissed] = useState<readonly string[]>([])
  if (notices.length === 0 || dismissed === notices) return null
  return (
    <section className="card notices" aria-label="Notices" data-testid="notices">
      <ul>
        {notices.map((notice) => (
          <li key={notice}>{notice}</li>
        ))}
      </ul>
      <button
        type="button"
        className="plain"
        aria-label="Dismiss notices"
        onClick={() => setDismissed(notices)}
      >
        <X className="icon" aria-hidden="true" />
      </button>
    </section>
  )
}
