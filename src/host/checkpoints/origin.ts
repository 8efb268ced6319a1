// Finds the checkpoint that a run continues from, and says how this machine differs from where it
// was made.
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { SteeringEntry } from '../../document/experiment/steering/actions.ts'
import type { CheckpointSource, PlainHistory, RunHistory } from '../protocol/checkpoint_facts.ts'
import type { Checkpoint, CheckpointFiles, MadeOn, SteeredState } from './file/checkpoint.ts'
import { newestFirst } from './schedule.ts'

/** The checkpoint of a source; of several kept ones the newest sound one up to the step that was
 * asked for. */
export interface Opened {
  readonly checkpoint: Checkpoint
  readonly why: CheckpointSource['kind']
  /** What a run of its own comes from. */
  readonly parent: Checkpoint['parent']
}

const problem = (message: string) => Object.assign(new Error(message), { name: 'CheckpointError' })

/** Reads and checks a checkpoint. A kept one that is damaged is reported to `onCorrupt`, and the
 * next older one is taken. Throws CheckpointError where none is left, or for a file that is not
 * sound. */
export async function openSource(
  from: CheckpointSource,
  files: CheckpointFiles,
  decode: (bytes: Uint8Array<ArrayBuffer>, file: string) => Promise<Checkpoint>,
  onCorrupt: (message: string) => void,
): Promise<Opened> {
  if (from.kind === 'file') {
    const checkpoint = await decode(new Uint8Array(from.bytes), from.name)
    return { checkpoint, why: 'file', parent: parentOf(checkpoint) }
  }
  const { kind, record } = from
  const kept = newestFirst(await files.list(record)).filter(({ step }) => step <= from.step)
  for (const { step } of kept) {
    const bytes = await files.read(record, step)
    if (!bytes) continue
    try {
      const checkpoint = await decode(bytes, `the checkpoint of step ${step}`)
      const parent = kind === 'resume' ? checkpoint.parent : parentOf(checkpoint)
      return { checkpoint, why: kind, parent }
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'CheckpointError') throw error
      onCorrupt(error.message)
    }
  }
  throw problem(
    `No checkpoint of this run up to step ${from.step} can be read. Press Train to start it again; the same seed gives the same run.`,
  )
}

const parentOf = ({ record, run }: Checkpoint) => ({ record, step: run.trainer.step })

/** The document of a state with what was done to its run after it was kept, so that this is done
 * again: `known` is what the run's record has of its steering. Where that is no continuation of the
 * state's own, the state's own. */
export function withLaterSteering(
  { document, done }: SteeredState,
  known: readonly SteeringEntry[],
): Experiment {
  const before = document.steering.slice(0, done)
  const isLater = JSON.stringify(known.slice(0, done)) === JSON.stringify(before)
  return isLater && known.length > done ? { ...document, steering: known } : document
}

/** Columns cut to their length, which cross the boundary to the page. */
export function plainHistory({ series, ...rest }: RunHistory): PlainHistory {
  const columns = [...series].map(([metric, { steps, values, length, thinned }]) => [
    metric,
    { steps: steps.slice(0, length), values: values.slice(0, length), ...(thinned && { thinned }) },
  ])
  return { ...rest, series: Object.fromEntries(columns) }
}

/** What is not as it was where a checkpoint was made, in a sentence; undefined where the run
 * continues bit for bit. */
export function differsFrom(madeOn: MadeOn, here: MadeOn): string | undefined {
  const found = [
    madeOn.adapter !== here.adapter && `the adapter was “${madeOn.adapter || 'unnamed'}”`,
    madeOn.kernels !== here.kernels && 'its kernels were others',
    madeOn.understory !== here.understory && `the version was ${madeOn.understory}`,
  ].filter((text) => text !== false)
  if (found.length === 0) return undefined
  const list = new Intl.ListFormat('en-GB').format(found)
  return `Where this checkpoint was made, ${list}: from here on the numbers agree with that run up to rounding, not bit for bit.`
}
