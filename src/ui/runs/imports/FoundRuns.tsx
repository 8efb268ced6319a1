// Asks which runs of an opened file or folder to keep.
import { useState } from 'react'
import { useStore } from 'zustand'
import { formatCount } from '../../kit/format.ts'
import { closeDialog } from '../../open/dialogs.ts'
import { Modal } from '../../part/Modal.tsx'
import { type FoundRun, foundRunsStore } from './found_runs.ts'

function Choice(props: { readonly runs: readonly FoundRun[]; answer(chosen: number[]): void }) {
  const { runs, answer } = props
  const [leftOut, setLeftOut] = useState<ReadonlySet<number>>(new Set())
  const chosen = runs.flatMap((_, i) => (leftOut.has(i) ? [] : [i]))
  const choose = (i: number, isOn: boolean) =>
    setLeftOut(new Set([...leftOut].filter((one) => one !== i).concat(isOn ? [] : [i])))
  return (
    <>
      <ul className="found-runs">
        {runs.map(({ run, step, metrics }, i) => (
          <li key={run}>
            <label>
              <input
                type="checkbox"
                data-testid="found-run"
                checked={!leftOut.has(i)}
                onChange={({ target }) => choose(i, target.checked)}
              />{' '}
              {run}{' '}
              <span className="soft">
                {formatCount(step)} steps, {formatCount(metrics)} metrics
              </span>
            </label>
          </li>
        ))}
      </ul>
      <button
        type="button"
        className="primary"
        data-testid="import-runs"
        disabled={chosen.length === 0}
        onClick={() => answer(chosen)}
      >
        Import {formatCount(chosen.length)} of {formatCount(runs.length)}
      </button>
    </>
  )
}

export function FoundRuns() {
  const found = useStore(foundRunsStore, (state) => state.found)
  return (
    <Modal name="found-runs" label="Runs to import">
      <div className="dialog-head">
        <h2>Runs to import</h2>
        <button type="button" onClick={() => closeDialog('found-runs')}>
          Close
        </button>
      </div>
      {found ? (
        <>
          <p>
            In {found.name}: {formatCount(found.runs.length)} runs.
          </p>
          <Choice runs={found.runs} answer={found.answer} />
        </>
      ) : null}
    </Modal>
  )
}
