// Looks into a run that is over: at its last state, or at any that was kept.
import './look.css'
import { Search } from 'lucide-react'
import { useState } from 'react'
import { useStore } from 'zustand'
import { formatCount } from '../kit/format.ts'
import { Filled } from './Filled.tsx'
import { useKeptSteps, useRecordOver } from './kept_states.ts'
import { type Look, lookNow, lookStore } from './look_now.ts'
import { useWhyBusy } from './why_busy.ts'

const selectLook = ({ look }: { readonly look: Look | undefined }) => look

/** Nothing while the shown run is on, or where no state of it is kept. */
export function LookNow() {
  const record = useRecordOver()
  return record === undefined ? null : <Choice key={record} record={record} />
}

interface LookAtLastProps {
  /** What the button says it does. */
  readonly words?: (step: string) => string
}

/** The same as one button, where a figure lacks what a look would bring. Nothing while the run is
 * on, or where no state of it is kept. */
export function LookAtLast(props: LookAtLastProps) {
  const record = useRecordOver()
  return record === undefined ? null : <LastState key={record} record={record} {...props} />
}

const readWords = (step: string) => `Read it with the state after step ${step}`

function LastState({ record, words = readWords }: LookAtLastProps & { readonly record: string }) {
  const whyBusy = useWhyBusy()
  const look = useStore(lookStore, selectLook)
  const [last] = useKeptSteps(record)
  if (last === undefined) return null
  return (
    <button
      type="button"
      data-testid="look-at-last"
      disabled={whyBusy !== undefined || look?.isBusy}
      title={whyBusy}
      onClick={() => void lookNow(record, { step: last })}
    >
      <Search className="icon" aria-hidden="true" />{' '}
      {look?.isBusy ? 'Looking' : words(formatCount(last))}
    </button>
  )
}

function Choice({ record }: { readonly record: string }) {
  const whyBusy = useWhyBusy()
  const look = useStore(lookStore, selectLook)
  const steps = useKeptSteps(record)
  const [chosen, setChosen] = useState<number>()
  if (steps.length === 0) return null
  const own = look?.record === record ? look : undefined
  return (
    <section className="card look-now" aria-labelledby="look-title" data-testid="look-now">
      <h2 id="look-title">Look at a kept state</h2>
      <div className="look-now-actions">
        <label>
          <span className="soft">This run is over. Its state after</span>{' '}
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
          disabled={whyBusy !== undefined || look?.isBusy}
          title={whyBusy}
          onClick={() => void lookNow(record, { step: chosen ?? steps[0] })}
        >
          <Search className="icon" aria-hidden="true" /> {own?.isBusy ? 'Looking' : 'Look now'}
        </button>
      </div>
      <p className="soft" role="status" data-testid="look-words">
        {own && own.words !== ''
          ? own.words
          : 'Measures every figure, the lens and the tokens of the next step, on a copy. The run and its files stay as they are.'}
      </p>
      {own?.step === undefined ? null : <Filled key={own.step} step={own.step} />}
    </section>
  )
}
