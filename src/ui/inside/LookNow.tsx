// Looks into a run that is over: at its last state, or at any that was kept.
import './look.css'
import { Search } from 'lucide-react'
import { useState } from 'react'
import { useStore } from 'zustand'
import { replayStore } from '../../lab/page/replay.ts'
import type { LabState } from '../../lab/page/store.ts'
import { isLive } from '../../lab/runs/record/record.ts'
import { formatCount } from '../base/format.ts'
import { selectIsBusy, selectStatus, useLab } from '../base/run.ts'
import { useCheckpoints } from '../runs/checkpoints/CheckpointList.tsx'
import { type Opened, openedStore, useOpenedEntry } from '../runs/opened.ts'
import { selectIsReplaying } from '../runs/replay/replays.ts'
import { type Look, lookNow, lookStore } from './look_now.ts'

const selectRecord = ({ record }: LabState) => record
const selectKept = ({ checkpoints }: LabState) => checkpoints
const selectOpened = ({ opened }: { readonly opened: Opened | undefined }) => opened
const selectLook = ({ look }: { readonly look: Look | undefined }) => look

/** The record of the shown run, where it is over and nobody else is at work on it. */
function useRecordOver(): string | undefined {
  const opened = useStore(openedStore, selectOpened)
  const entry = useOpenedEntry()
  const status = useLab(selectStatus)
  const record = useLab(selectRecord)
  const is_replaying = useStore(replayStore, selectIsReplaying)
  if (entry) return opened?.is_elsewhere || isLive(entry.header.status) ? undefined : entry.id
  const is_over = status === 'finished' || status === 'failed'
  return is_over && record !== '' && !is_replaying ? record : undefined
}

/** Nothing while the shown run is on, or where no state of it is kept. */
export function LookNow() {
  const record = useRecordOver()
  return record === undefined ? null : <Choice key={record} record={record} />
}

function Choice({ record }: { readonly record: string }) {
  const is_busy = useLab(selectIsBusy)
  const living = useLab(selectRecord)
  const of_living = useLab(selectKept)
  const look = useStore(lookStore, selectLook)
  const stored = useCheckpoints(record, of_living)
  const [chosen, setChosen] = useState<number>()
  const entries = stored?.length || living !== record ? (stored ?? []) : of_living
  const steps = entries.map(({ step }) => step).reverse()
  if (steps.length === 0) return null
  const own = look?.record === record ? look : undefined
  return (
    <section className="card look-now" aria-label="Look now" data-testid="look-now">
      <div className="look-now-actions">
        <label>
          <span className="soft">This run is over. Look at its state after</span>{' '}
          <select
            data-testid="look-step"
            value={chosen ?? steps[0]}
            onChange={({ target }) => setChosen(Number(target.value))}
          >
            {steps.map((step, i) => (
              <option key={step} value={step}>
                step {formatCount(step)}
                {i === 0 ? ', the last kept' : ''}
              </option>
            ))}
          </select>
        </label>
        <button
          type="button"
          className="primary"
          data-testid="look"
          disabled={is_busy || look?.is_busy}
          title={is_busy ? 'A run is in progress: finish or reset it first' : undefined}
          onClick={() => void lookNow(record, chosen ?? steps[0])}
        >
          <Search className="icon" aria-hidden="true" /> {own?.is_busy ? 'Looking' : 'Look now'}
        </button>
      </div>
      <p className="soft" role="status" data-testid="look-words">
        {own && !own.is_busy && own.words !== ''
          ? own.words
          : 'Measures every figure, the lens and the tokens of the next step, on a copy. The run and its files stay as they are.'}
      </p>
    </section>
  )
}
