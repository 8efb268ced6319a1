// Says beside the button that asked for a run why a file is none, and what can be done with it.
import { X } from 'lucide-react'
import { useStore } from 'zustand'
import { CAN_IMPORT } from '../../../jobs/logs/base/log_kinds.ts'
import { openAnyhow, refusedStore } from './choose_run.ts'

export function NotImported() {
  const refused = useStore(refusedStore, (state) => state.refused)
  if (!refused) return null
  const { file, problems, offer } = refused
  return (
    <div className="runs-note not-imported" role="alert" data-testid="not-imported">
      <div>
        <p>
          <strong>No run was imported from “{file.name}”.</strong> {problems.join(' ')}
        </p>
        <p className="soft">{CAN_IMPORT}</p>
        {offer ? (
          <button type="button" data-testid="open-anyhow" onClick={() => openAnyhow(refused)}>
            {offer}
          </button>
        ) : null}
      </div>
      <button
        type="button"
        className="plain"
        aria-label="Dismiss what is wrong with the file"
        onClick={() => refusedStore.setState({ refused: undefined })}
      >
        <X className="icon" aria-hidden="true" />
      </button>
    </div>
  )
}
