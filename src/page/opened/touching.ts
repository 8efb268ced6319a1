// Touches kept states of a run that is over, through the worker.
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { Touched, TouchWork } from '../../host/protocol/touch.ts'
import { connect, isConnected, onLabEvent, post } from '../connection/connection.ts'
import { findContents } from '../contents/contents.ts'
import { contentsOf } from '../contents/here.ts'

/** Milliseconds without a word after which no answer is expected any more: a software adapter
 * compiles for long. */
const PATIENCE_MS = 180_000
interface TouchOf {
  readonly record: string
  /** The run's, which says what files it needs. */
  readonly experiment: Experiment
  readonly steps: readonly number[]
  readonly work: TouchWork
  /** The run of the last of two states, where that is another one. */
  readonly other?: { readonly record: string; readonly experiment: Experiment } | undefined
}

/** Not while a run is on. Rejects with a sentence for people. */
export async function touchStates(
  { record, experiment, steps, work, other }: TouchOf,
  onProgress: (done: number, of: number) => void,
): Promise<Touched> {
  const experiments = [experiment, ...(other ? [other.experiment] : [])]
  for (const one of experiments)
    if (!(await findContents(one))) throw new RangeError('A file of this run is missing.')
  const contents = experiments.flatMap((one) => contentsOf(one) ?? [])
  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const end = () => {
      clearTimeout(timer)
      stop()
    }
    const wait = () => {
      clearTimeout(timer)
      timer = setTimeout(() => {
        reject(new RangeError('The worker did not answer.'))
        end()
      }, PATIENCE_MS)
    }
    const stop = onLabEvent((event) => {
      if (!('record' in event) || event.record !== record) return
      if (event.type === 'touch_progress') {
        onProgress(event.done, event.of)
        return wait()
      }
      if (event.type === 'touched') resolve(event.touched)
      else if (event.type === 'touch_failed') reject(new RangeError(event.message))
      else return
      end()
    })
    wait()
    if (!isConnected()) connect()
    post({ type: 'touch', record, steps, work, contents, other: other?.record })
  })
}
