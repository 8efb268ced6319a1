// How much room checkpoints take, and how much they may.
import { useEffect, useState } from 'react'
import { listCheckpoints, removeCheckpoints } from '../../lab/checkpoints/browse.ts'
import { BUDGETS, checkpointSettings, setCheckpointBudget } from '../../lab/checkpoints/settings.ts'
import { measureStorage } from '../../lab/runs/library.ts'
import { heldRuns, withFreeRuns } from '../../lab/runs/locks.ts'
import { labStore } from '../../lab/store.ts'
import { formatBytes } from '../format.ts'
import { showToast } from '../store.ts'

interface Used {
  readonly bytes: number
  readonly runs: number
}

async function measure(): Promise<Used> {
  const all = await listCheckpoints()
  const bytes = all.reduce((sum, entry) => sum + entry.bytes, 0)
  return { bytes, runs: new Set(all.map(({ record }) => record)).size }
}

/** Those of runs that go on stay. */
async function removeAll(): Promise<void> {
  const living = labStore.getState().record
  const records = new Set((await listCheckpoints()).map(({ record }) => record))
  records.delete(living)
  // A run that this page holds goes on too: the second one of a duel.
  const held = await heldRuns()
  await withFreeRuns(
    [...records].filter((id) => !held.has(id)),
    removeCheckpoints,
  )
  await measureStorage()
}

/** `count` of runs in the list: another one may have been kept or deleted. */
export function CheckpointStorage({ count }: { readonly count: number }) {
  const [used, setUsed] = useState<Used>()
  const [budget, setBudget] = useState(checkpointSettings().budget_bytes)
  useEffect(() => {
    void measure().then(setUsed)
  }, [count])
  if (!used) return null
  const choices = [...new Set([...BUDGETS, budget])].sort((a, b) => a - b)
  return (
    <div className="checkpoint-storage" data-testid="checkpoint-storage">
      <p className="soft">
        Checkpoints take {formatBytes(used.bytes)}
        {used.runs > 0 ? ` for ${used.runs} ${used.runs === 1 ? 'run' : 'runs'}` : ''}.
      </p>
      <label>
        <span className="soft">At most for each run</span>
        <select
          data-testid="checkpoint-budget"
          value={budget}
          onChange={({ target }) => {
            setBudget(Number(target.value))
            setCheckpointBudget(Number(target.value))
          }}
        >
          {choices.map((bytes) => (
            <option key={bytes} value={bytes}>
              {bytes >= 1e9 ? `${bytes / 1e9} GB` : `${bytes / 1e6} MB`}
            </option>
          ))}
        </select>
      </label>
      {used.bytes > 0 ? (
        <button
          type="button"
          data-testid="delete-checkpoints"
          onClick={() => {
            void removeAll()
              .then(measure)
              .then((left) => {
                setUsed(left)
                showToast('The checkpoints of all runs that do not go on are deleted.')
              })
          }}
        >
          Delete all checkpoints
        </button>
      ) : null}
    </div>
  )
}
