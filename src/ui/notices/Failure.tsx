// Shows why a run failed, and what a person can do about it.
import { TriangleAlert } from 'lucide-react'
import { smallerNext, trainCheckpointed, trainSmaller } from '../../page/client/button_edits.ts'
import { trainAllowing } from '../../page/client/starting.ts'
import { lockedBecause } from '../../page/state/share_store.ts'
import type { LabState } from '../../page/state/store.ts'
import { formatBytes } from '../kit/format.ts'
import { copyReport } from '../part/report.ts'
import { useLab } from '../shown/run.ts'
import { failureText } from './failures.ts'

const selectError = (state: LabState) => state.error

/** Errors whose message names what the person can change: shown at once. */
const TELLING = ['experiment', 'reward', 'memory', 'too_large', 'out_of_memory', 'shader']

/** Errors of a run that asked for too much memory. */
const ROOMLESS = ['memory', 'too_large', 'out_of_memory']

const selectCanBeSmaller = (state: LabState) =>
  state.error !== undefined &&
  ROOMLESS.includes(state.error.code) &&
  smallerNext(state) !== undefined

function TrainSmaller() {
  if (!useLab(selectCanBeSmaller)) return null
  return (
    <button
      type="button"
      className="primary"
      data-testid="train-smaller"
      title="Half the prompts in every step and mini-batch, in all phases; undo brings the settings back"
      onClick={trainSmaller}
    >
      Train with half the batch
    </button>
  )
}

/** The same numbers in less memory. */
function Checkpoint({ bytes }: { readonly bytes: number }) {
  return (
    <button
      type="button"
      className="primary"
      data-testid="train-checkpointed"
      title="Each step computes its forward pass twice; undo brings the settings back"
      onClick={trainCheckpointed}
    >
      Train with gradient checkpointing: {formatBytes(bytes)}
    </button>
  )
}

/** A person's word that so much memory may be taken. */
function AllowMemory({ bytes }: { readonly bytes: number }) {
  return (
    <button
      type="button"
      data-testid="allow-memory"
      title="The page cannot find out whether the GPU has that much; if it has not, the browser or the desktop may hang"
      onClick={() => trainAllowing(bytes)}
    >
      Take {formatBytes(bytes)} and train
    </button>
  )
}

/** What went wrong, why, and what to do now. */
export function Failure() {
  const error = useLab(selectError)
  if (!error) return null
  const { title, cause, advice } = failureText(error.code, navigator.userAgent)
  return (
    <section className="card failure" role="alert" data-testid="error" data-code={error.code}>
      <TriangleAlert className="icon" aria-hidden="true" />
      <div>
        <h2>{title}</h2>
        <p>{cause}</p>
        <ul>
          {advice.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
        <details open={TELLING.includes(error.code)}>
          <summary>Message</summary>
          <code>{error.message}</code>
        </details>
        {error.checkpointed_bytes === undefined ||
        lockedBecause('settings') !== undefined ? null : (
          <Checkpoint bytes={error.checkpointed_bytes} />
        )}{' '}
        <TrainSmaller />{' '}
        {error.code === 'memory' && error.bytes !== undefined ? (
          <>
            <AllowMemory bytes={error.bytes} />{' '}
          </>
        ) : null}
        <button type="button" data-testid="copy-report" onClick={() => void copyReport()}>
          Copy report
        </button>
      </div>
    </section>
  )
}
