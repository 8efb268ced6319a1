// Shows the notices above the tabs.
import { FileX, X } from 'lucide-react'
import { useState } from 'react'
import { useStore } from 'zustand'
import { rolloutDTypeText } from '../../document/experiment/rollout_dtype.ts'
import type { LabState } from '../../page/state/store.ts'
import { fileStore } from '../open/file_store.ts'
import { useLab } from '../shown/run.ts'

const selectNotices = (state: LabState) => state.notices

/** What a link asked for and did not get. Dismissed until there are new ones. */
function LinkNotices() {
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
      <Dismiss what="notices" onClick={() => setDismissed(notices)} />
    </section>
  )
}

const selectDType = (state: LabState) => state.rollout_dtype

/** The run's rollouts are not kept in the halves that were asked for. */
function DTypeNotice() {
  const rolloutDtype = useLab(selectDType)
  const said = rolloutDtype?.dtype === 'float32' ? rolloutDTypeText(rolloutDtype) : undefined
  const [dismissed, setDismissed] = useState<string>()
  if (said === undefined || said === dismissed) return null
  return (
    <section className="card notices" aria-label="Rollouts" data-testid="dtype-notice">
      <p>{said}</p>
      <Dismiss what="this notice" onClick={() => setDismissed(said)} />
    </section>
  )
}

/** Why a file was not opened, field by field. */
function FileNotice() {
  const problem = useStore(fileStore, (state) => state.problem)
  if (!problem) return null
  return (
    <section className="card notices file-notice" role="alert" data-testid="file-problem">
      <FileX className="icon" aria-hidden="true" />
      <div>
        <h2>Not opened, and nothing was changed: {problem.name}</h2>
        <ul>
          {problem.problems.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      </div>
      <Dismiss
        what="the file’s problems"
        onClick={() => fileStore.setState({ problem: undefined })}
      />
    </section>
  )
}

function Dismiss({ what, onClick }: { what: string; onClick: () => void }) {
  return (
    <button type="button" className="plain" aria-label={`Dismiss ${what}`} onClick={onClick}>
      <X className="icon" aria-hidden="true" />
    </button>
  )
}

export function Notices() {
  return (
    <>
      <FileNotice />
      <LinkNotices />
      <DTypeNotice />
    </>
  )
}
