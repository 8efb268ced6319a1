// Lists records that cannot be understood, and what can still be done with them: nothing of a run
// is thrown away unasked.
import { Download, FileInput } from 'lucide-react'
import { useStore } from 'zustand'
import { checkpointBlob } from '../../host/checkpoints/storage/browse.ts'
import { downloadName } from '../../host/checkpoints/storage/places.ts'
import { rawRecord } from '../../page/runs/library/library.ts'
import {
  type BrokenEntry,
  type Library,
  libraryStore,
} from '../../page/runs/library/library_store.ts'
import { formatBytes, formatCount } from '../kit/format.ts'
import { saveFile } from '../kit/save.ts'
import { useCheckpoints } from '../look/kept_checkpoints.ts'
import { removeRuns } from '../open/opened_run.ts'
import { showToast } from '../shown/store.ts'
import { offerFile } from './checkpoints/continue_run.ts'

const selectBroken = ({ broken }: Library) => broken
const selectDeleted = ({ deleted }: Library) => deleted

async function exportRecord(id: string): Promise<void> {
  try {
    const text = await rawRecord(id)
    if (text === undefined) showToast('This record is no longer there.')
    else saveFile(`record-${id}.json`, new Blob([text], { type: 'application/json' }))
  } catch (error) {
    showToast(`The record could not be read: ${error instanceof Error ? error.message : error}`)
  }
}

/** Offers a checkpoint as a file that was opened: what it is, is in it. */
async function offerCheckpoint(id: string, step: number): Promise<void> {
  const blob = await checkpointBlob(id, step)
  const file = blob && new File([blob], downloadName(id, step))
  const problems = file ? await offerFile(file) : ['It is no longer there.']
  if (problems.length > 0)
    showToast(`The checkpoint of step ${step} cannot be used: ${problems[0]}`)
  else scrollTo({ top: 0 })
}

function BrokenRecord({ id, why }: BrokenEntry) {
  const kept = useCheckpoints(id)
  return (
    <li>
      A record that cannot be read. <span className="soft">{why}</span>
      <div className="runs-broken-ways">
        <button type="button" data-testid="export-record" onClick={() => void exportRecord(id)}>
          <Download className="icon" aria-hidden="true" /> Save it as it is
        </button>
        {kept?.toReversed().map(({ step, bytes }) => (
          <button
            key={step}
            type="button"
            data-testid="offer-checkpoint"
            onClick={() => void offerCheckpoint(id, step)}
          >
            <FileInput className="icon" aria-hidden="true" /> Its checkpoint of step{' '}
            {formatCount(step)} <small className="soft">{formatBytes(bytes)}</small>
          </button>
        ))}
        <button
          type="button"
          title={kept && kept.length > 0 ? 'Its checkpoints go with it' : undefined}
          onClick={() => void removeRuns([id])}
        >
          Delete it
        </button>
      </div>
    </li>
  )
}

export function Broken() {
  const broken = useStore(libraryStore, selectBroken)
  const deleted = useStore(libraryStore, selectDeleted)
  const left = broken.filter(({ id }) => !deleted.includes(id))
  if (left.length === 0) return null
  return (
    <ul className="runs-broken" data-testid="runs-broken">
      {left.map((entry) => (
        <BrokenRecord key={entry.id} {...entry} />
      ))}
    </ul>
  )
}
