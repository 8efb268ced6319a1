// Shows how much room checkpoints take, and sets how much they may.
import { useEffect, useState } from 'react'
import { useStore } from 'zustand'
import { listCheckpoints, removeCheckpoints } from '../../../host/checkpoints/storage/browse.ts'
import { type Library, libraryStore } from '../../../page/runs/library/library_store.ts'
import { keepRoom } from '../../../page/runs/library/record_page.ts'
import { measureStorage } from '../../../page/runs/library/room.ts'
import { heldRuns, withFreeRuns } from '../../../page/runs/storage/locks.ts'
import {
  BUDGETS,
  checkpointSettings,
  setCheckpointBudget,
  setTotalBudget,
  TOTALS,
  totalBudget,
} from '../../../page/state/checkpoint_settings.ts'
import { labStore } from '../../../page/state/store.ts'
import { formatBytes } from '../../kit/format.ts'
import { showToast } from '../../shown/store.ts'

type Kept = Awaited<ReturnType<typeof listCheckpoints>>

const bytesOf = (kept: readonly Pick<Kept[number], 'bytes'>[]): number =>
  kept.reduce((sum, { bytes }) => sum + bytes, 0)

/** How many runs have the checkpoints, and their bytes: those of deleted runs are there until the
 * runs are gone, and are none of the list. */
export function listedOf(
  kept: readonly Pick<Kept[number], 'record' | 'bytes'>[],
  deleted: readonly string[],
): { readonly runs: number; readonly bytes: number } {
  const own = kept.filter(({ record }) => !deleted.includes(record))
  return { runs: new Set(own.map(({ record }) => record)).size, bytes: bytesOf(own) }
}

/** Those of runs in progress stay. */
async function removeAll(): Promise<void> {
  const living = labStore.getState().record
  const records = new Set((await listCheckpoints()).map(({ record }) => record))
  records.delete(living)
  // A run that this page holds continues too: the second one of a duel.
  const held = await heldRuns()
  await withFreeRuns(
    [...records].filter((id) => !held.has(id)),
    removeCheckpoints,
  )
  await measureStorage()
}

function Budget(props: {
  readonly id: string
  readonly label: string
  readonly title?: string
  readonly choices: readonly number[]
  readonly value: number
  onChoose(bytes: number): void
}) {
  const { id, label, title, choices, value, onChoose } = props
  return (
    <label title={title}>
      <span className="soft">{label}</span>
      <select
        data-testid={id}
        value={value}
        onChange={({ target }) => onChoose(Number(target.value))}
      >
        {[...new Set([...choices, value])]
          .sort((a, b) => a - b)
          .map((bytes) => (
            <option key={bytes} value={bytes}>
              {formatBytes(bytes)}
            </option>
          ))}
      </select>
    </label>
  )
}

function DeleteAll({ onDeleted }: { readonly onDeleted: (left: Kept) => void }) {
  return (
    <button
      type="button"
      data-testid="delete-checkpoints"
      onClick={() => {
        void removeAll()
          .then(() => listCheckpoints())
          .then((left) => {
            onDeleted(left)
            showToast('The checkpoints of all runs that are not in progress were deleted.')
          })
      }}
    >
      Delete all checkpoints
    </button>
  )
}

const selectDeleted = ({ deleted }: Library) => deleted

/** `count` of runs in the list: another one may have been kept or deleted. */
export function CheckpointStorage({ count }: { readonly count: number }) {
  const [kept, setKept] = useState<Kept>()
  const deleted = useStore(libraryStore, selectDeleted)
  const [budget, setBudget] = useState(checkpointSettings().budget_bytes)
  const [total, setTotal] = useState(totalBudget())
  // biome-ignore lint/correctness/useExhaustiveDependencies: another number of runs takes other room.
  useEffect(() => {
    void listCheckpoints().then(setKept)
  }, [count])
  if (!kept) return null
  const used = listedOf(kept, deleted)
  return (
    <div className="checkpoint-storage" data-testid="checkpoint-storage">
      <p className="soft">
        Checkpoints take {formatBytes(used.bytes)}
        {used.runs > 0 ? ` for ${used.runs} ${used.runs === 1 ? 'run' : 'runs'}` : ''}.
      </p>
      <Budget
        id="checkpoint-budget"
        label="At most for each run"
        choices={BUDGETS}
        value={budget}
        onChoose={(bytes) => {
          setBudget(bytes)
          setCheckpointBudget(bytes)
        }}
      />
      <Budget
        id="checkpoint-total"
        label="At most for all runs"
        title="Above this the oldest checkpoints are deleted first, but never the newest of a run, nor any of a run that is training, pinned or the baseline"
        choices={TOTALS}
        value={total}
        onChoose={(bytes) => {
          setTotal(bytes)
          setTotalBudget(bytes)
          void keepRoom()
            .then(() => listCheckpoints())
            .then(setKept)
        }}
      />
      {bytesOf(kept) > total ? (
        <p className="soft" data-testid="checkpoints-over">
          The newest of each run, and those of runs that are pinned or training, take more than
          that: delete runs to make room.
        </p>
      ) : null}
      {kept.length > 0 ? <DeleteAll onDeleted={setKept} /> : null}
    </div>
  )
}
