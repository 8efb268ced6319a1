// Finds which checkpoint to continue from (lab train --resume), and what it records of the run so
// far; and the model of a checkpoint, which another run begins with or learns from.
import { existsSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { contentHash } from '../../document/content/content.ts'
import { taskOf } from '../../document/experiment/fields/task_fields.ts'
import type { TeacherFields } from '../../document/experiment/fields/teacher_fields.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { Checkpoint, SteeredState } from '../../host/checkpoints/file/checkpoint.ts'
import { CheckpointError } from '../../host/checkpoints/file/checkpoint_error.ts'
import { decodeCheckpoint } from '../../host/checkpoints/file/checkpoint_file.ts'
import { mergedPolicy } from '../../host/checkpoints/merged_policy.ts'
import { fileOf } from '../../host/checkpoints/storage/places.ts'
import type { RunHistory } from '../../host/protocol/checkpoint_facts.ts'
import { otherVocabulary, vocabularyOf } from '../../host/protocol/vocabulary.ts'
import { checkpointSource } from '../../jobs/model_folders.ts'
import { LabFailure } from '../base/command.ts'
import { statOf } from '../base/disk.ts'
import { tell } from '../base/terminal.ts'
import { readInput, readJson } from '../input/input_file.ts'
import { checkpointFolder, folderFiles } from '../output/checkpoint_files.ts'
import type { RunFacts } from '../output/run_facts.ts'

/** Where a run continues, and in which folder. */
export interface Resumed {
  readonly checkpoint: Checkpoint
  /** Name of the file, for messages. */
  readonly file: string
  /** The folder that the run continues in. */
  readonly out: string
  /** Whether it is the same run; otherwise another one begins, which remembers this one. */
  readonly isSameRun: boolean
  /** What the run.json of the same run says; empty for another one. */
  readonly facts: Partial<RunFacts>
}

/** The newest checkpoint of a run folder that can be read, or that of a file. What is damaged is
 * reported on stderr and skipped. Throws LabFailure where there is none, or no folder to continue
 * in. */
export async function findCheckpoint(source: string, out: string | undefined): Promise<Resumed> {
  if (!existsSync(source))
    throw new LabFailure(
      `${source}: no such folder or file; --resume takes the folder of a run (--out) or a checkpoint of one`,
    )
  if (!statSync(source).isDirectory()) return fromFile(source, out)
  const { checkpoint, file } = await newest(source)
  const isSameRun = goesOnIn(source, out)
  const facts = isSameRun ? readFacts(source) : {}
  return { checkpoint, file, out: out ?? source, isSameRun, facts }
}

/** Whether a run continues in the folder that it is in. */
export const goesOnIn = (source: string, out: string | undefined): boolean =>
  (statOf(source)?.isDirectory() ?? false) &&
  (out === undefined || resolve(out) === resolve(source))

async function fromFile(path: string, out: string | undefined): Promise<Resumed> {
  if (out === undefined)
    throw new LabFailure('--resume: a checkpoint file starts a new run; add --out DIR, its folder')
  if (resolve(dirname(path)) === resolve(checkpointFolder(out)))
    throw new LabFailure(
      `--out: ${out} holds the run of this checkpoint, and would be replaced. Name another folder, or continue the run itself with --resume ${out}`,
    )
  const file = basename(path)
  const checkpoint = await decodeCheckpoint(new Uint8Array(readInput(path)), file)
  return { checkpoint, file, out, isSameRun: false, facts: {} }
}

async function newest(folder: string): Promise<Pick<Resumed, 'checkpoint' | 'file'>> {
  const files = folderFiles(folder, '')
  const steps = (await files.list()).map(({ step }) => step).reverse()
  if (steps.length === 0)
    throw new LabFailure(
      `${folder}: no checkpoints; train --out DIR leaves them in DIR/checkpoints while it trains`,
    )
  for (const step of steps) {
    const bytes = await files.read('', step)
    if (!bytes) continue
    const file = fileOf(step)
    try {
      return { checkpoint: await decodeCheckpoint(bytes, file), file }
    } catch (error) {
      // A newer lab reads it: what was trained since is not thrown away.
      if (!(error instanceof CheckpointError) || error.problem === 'newer') throw error
      tell(error.message)
    }
  }
  throw new LabFailure(
    `${folder}: none of its ${steps.length} checkpoints can be read; train its experiment.json again`,
  )
}

/** What an earlier run left of the facts that the run continues with; what is not as it was written
 * is passed over. */
function readFacts(folder: string): Partial<RunFacts> {
  try {
    const facts: unknown = readJson(join(folder, 'run.json'))
    const { resumed, warm_start, model, ...counted } = facts as Partial<RunFacts>
    const { wall_time_s, memory_peak_bytes } = counted
    return {
      ...(Array.isArray(resumed) && { resumed }),
      ...(typeof warm_start === 'string' && { warm_start }),
      ...(typeof model === 'string' && { model }),
      ...(typeof wall_time_s === 'number' && { wall_time_s }),
      ...(typeof memory_peak_bytes === 'number' && { memory_peak_bytes }),
    }
  } catch {
    return {}
  }
}

/** Whether nothing is left to do. */
export function isOver({ trainer, experiment, document, done }: SteeredState): boolean {
  const { phase, phase_step, is_started, ends } = trainer
  const isLast = phase === experiment.phases.length - 1
  const isPast = phase_step >= experiment.phases[phase].steps || ends !== null
  return is_started && isLast && isPast && done === document.steering.length
}

/** The phase that a step belongs to. */
export const phaseOf = ({ phase_switches }: RunHistory, step: number): number =>
  phase_switches.findLast((begun) => begun.step < Math.max(1, step))?.phase ?? 0

/** What makes weights mean something, under the names of an experiment's model; `source`: the hash
 * of the weights. */
type Sizes = Omit<TeacherFields, 'source_address'>

/** The policy as it was, an adapter merged into it, in the flat layout. */
export interface CheckpointModel {
  readonly sizes: Sizes
  readonly weights: Float32Array
}

/** Whether a path is a checkpoint, or the folder of a run that has some. */
export const isOfRun = (path: string): boolean =>
  existsSync(path) &&
  (statSync(path).isDirectory()
    ? existsSync(checkpointFolder(path))
    : path.endsWith('.safetensors'))

/** Throws LabFailure, which names the option, for one of another vocabulary or without weights. */
export async function readCheckpointModel(
  path: string,
  { task }: Pick<Experiment, 'task'>,
  option: string,
): Promise<CheckpointModel> {
  const { run } = statSync(path).isDirectory()
    ? (await findCheckpoint(path, undefined)).checkpoint
    : await decodeCheckpoint(new Uint8Array(readInput(path)), basename(path))
  const made = run.experiment
  const other = otherVocabulary(vocabularyOf(made.task).tokens, task)
  if (other !== undefined) throw new LabFailure(`${option}: ${path}: a checkpoint ${other}`)
  const { tokenizer } = taskOf(made.task)
  const policy = { ...checkpointSource(run), vocab_size: tokenizer.vocab_size }
  const weights = mergedPolicy(policy)
  if (!weights) throw new LabFailure(`${option}: ${path}: expected weights, found none`)
  const { padding_idx: _, enable_gradient_checkpointing: __, lora: ___, ...model } = made.model
  const {
    activations_dtype: ____,
    source_address: _____,
    steering_vectors: ______,
    lenses: _______,
    ...sizes
  } = model
  const source = await contentHash(new Uint8Array(new Float32Array(weights).buffer))
  const named = { source, source_name: basename(path), dtype: 'float32' as const }
  return { sizes: { ...sizes, ...named }, weights }
}
