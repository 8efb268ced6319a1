// Makes the rows of a job of preferences: those of the file, or the pairs that a run has made.
import { parquetWriteBuffer } from 'hyparquet-writer'
import { takesVerdicts } from '../document/experiment/fields/phases.ts'
import { resolvePhases } from '../document/experiment/resolve.ts'
import type { OutFile } from '../formats/out_file.ts'
import type { PreferencePhase } from '../rl/config/phase.ts'
import { preferenceLossOf } from '../rl/preferences/losses.ts'
import { writtenPairs } from '../rl/reward/phase_pairs.ts'
import { type Preference, Preferences } from '../rl/reward/preferences.ts'
import type { Task } from '../tasks/task/task.ts'
import type { ModelSource } from './model_folders.ts'
import { JobError } from './settings/job_error.ts'
import type { ChosenPreference } from './settings/trl_phase.ts'

/** TRL's columns of pairs. */
interface PairRow {
  readonly prompt: string
  readonly chosen: string
  readonly rejected: string
}

/** TRL's columns of single answers. */
interface AnswerRow {
  readonly prompt: string
  readonly completion: string
  readonly label: boolean
}

type Row = PairRow | AnswerRow

export interface PreferenceRows {
  readonly train: readonly Row[]
  readonly val: readonly Row[]
}

/** The rows. Throws JobError where the pairs are not made yet. */
export function preferenceRows(
  source: ModelSource,
  { phase, index }: ChosenPreference,
  task: Task,
): PreferenceRows {
  const { experiment } = source
  const resolved = resolvePhases(experiment)[index] as PreferencePhase
  const { count, held_out } = resolved.pairs
  if (phase.pairs.source === 'file' && takesVerdicts(experiment.task, phase)) {
    const answers = (split: 'train_set' | 'test', most: number): AnswerRow[] =>
      (task.verdicts?.(split) ?? [])
        .slice(0, most)
        .map(({ sample: { prompt }, response: completion, is_desirable: label }) => ({
          prompt,
          completion,
          label,
        }))
    return { train: answers('train_set', count), val: answers('test', held_out) }
  }
  const { train, val } =
    phase.pairs.source === 'file'
      ? {
          train: writtenPairs(task, experiment.seed, 'train_set', count).map(writtenRow),
          val: writtenPairs(task, experiment.seed, 'test', held_out).map(writtenRow),
        }
      : madePairs(source, index, resolved)
  if (preferenceLossOf(phase.preference.loss_type).data === 'pairs') return { train, val }
  return { train: apart(train, phase.batch_size), val: apart(val, phase.batch_size) }
}

const writtenRow = ({
  sample: { prompt },
  ...answers
}: ReturnType<typeof writtenPairs>[number]): PairRow => ({ prompt, ...answers })

/** Pairs as single answers: of as many pairs as a step has, the better ones and then the worse. */
const apart = (pairs: readonly PairRow[], batch: number): AnswerRow[] =>
  Array.from({ length: Math.ceil(pairs.length / batch) }, (_, i) =>
    pairs.slice(i * batch, (i + 1) * batch),
  ).flatMap((part) => [
    ...part.map(({ prompt, chosen }) => ({ prompt, completion: chosen, label: true })),
    ...part.map(({ prompt, rejected }) => ({ prompt, completion: rejected, label: false })),
  ])

/** The pairs that a run has made, or a person has judged. */
function madePairs(
  { experiment, pairs }: ModelSource,
  index: number,
  resolved: PreferencePhase,
): { readonly train: PairRow[]; readonly val: PairRow[] } {
  if (pairs?.of !== index)
    throw new JobError(
      `phases.${index}.pairs.source is ${resolved.pairs.source}: the policy makes these pairs when the phase begins, and TRL trains on pairs that are there. Train until the phase has begun and export that run, or bring pairs in a file (pairs.source file)`,
    )
  const made = Preferences.resume(resolved.pairs, experiment.seed, pairs.state)
  const row = ({ prompt, chosen, rejected }: Preference): PairRow => ({
    prompt,
    chosen: chosen.text,
    rejected: rejected.text,
  })
  if (made.training.length === 0)
    throw new JobError(
      `phases.${index}.pairs: expected a pair that was judged, found none yet; export the run when there are some`,
    )
  return { train: made.training.map(row), val: made.held_out.map(row) }
}

/** A file of rows, each column a text or a verdict. */
export function rowsFile(path: string, rows: readonly Row[]): OutFile {
  function* pieces() {
    const columnData = Object.keys(rows[0]).map((name) => {
      const data = rows.map((row) => (row as unknown as Record<string, string | boolean>)[name])
      return { name, data, type: typeof data[0] === 'boolean' ? 'BOOLEAN' : 'STRING' } as const
    })
    yield new Uint8Array(parquetWriteBuffer({ columnData }))
  }
  return { path, pieces: { [Symbol.iterator]: pieces } }
}
