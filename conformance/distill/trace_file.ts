// Runs of TRL's on-policy DistillationTrainer as they were recorded: what the student wrote, and
// the weights after each update.
import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { readJson } from '../../src/cli/input/input_file.ts'
import type { MatmulChoice } from '../../src/kernels/matmul/matmul_variants.ts'
import type { HfModel } from '../../src/model/hf/hf_model.ts'
import type { Optim } from '../../src/rl/config/optim.ts'
import { makeBatch, type RolloutBatch, widenRows } from '../../src/rl/experience/batch.ts'
import { CaseError, Fields } from '../base/fields.ts'
import type { Pinned } from '../base/fixture.ts'
import { readCaseModel } from '../hf/model_case.ts'

export interface DistillMicroBatch {
  readonly batch: RolloutBatch
  /** Tokens of the whole update: losses of micro-batches add up. */
  readonly num_items_in_batch: number
  readonly expected: Fields
}

export interface DistillUpdate {
  readonly micro_batches: readonly DistillMicroBatch[]
  readonly expected: Fields
}

export interface DistillRun {
  readonly name: string
  readonly beta: number
  readonly temperature: number
  readonly optim: Optim
  readonly grad_clip: number
  readonly updates: readonly DistillUpdate[]
}

export interface DistillCase {
  readonly name: string
  readonly student: HfModel
  readonly teacher: HfModel
  readonly matmul: MatmulChoice | undefined
  readonly runs: readonly DistillRun[]
}

/** Whether a folder holds a student, a teacher and what one learned of the other. */
export const isDistillTrace = (folder: string): boolean =>
  ['trace.json', 'student', 'teacher'].every((name) => existsSync(join(folder, name)))

/** Reads a folder. Throws ModelFileError or CaseError for what is not as it should be. */
export async function openDistillCase(folder: string, pinned: Pinned = {}): Promise<DistillCase> {
  const trace = new Fields(readJson(join(folder, 'trace.json')), 'trace.json')
  const student = await readCaseModel(join(folder, 'student'), 'lm_head', pinned)
  const teacher = await readCaseModel(join(folder, 'teacher'), 'lm_head', pinned)
  const [own, other] = [student, teacher].map(({ layout }) => layout.shape.vocab_size)
  if (own !== other)
    throw new CaseError(`teacher: expected a vocabulary of ${own}, the student's, got ${other}`)
  const parent = basename(resolve(folder, '..'))
  return {
    name: `${parent}/${basename(resolve(folder))}`,
    student,
    teacher,
    matmul: pinned.matmul,
    runs: trace.list('runs').map((run) => readRun(run, student)),
  }
}

function readRun(run: Fields, student: HfModel): DistillRun {
  const name = run.optionalText('name') ?? run.where
  const settings = run.fields('settings')
  settings.choice('lr_scheduler_type', ['constant'])
  if (settings.number('adam_epsilon', 1e-8) !== 1e-8)
    throw new CaseError(`${settings.where}.adam_epsilon: expected 1e-8`)
  // The recorded batches hold what these decided.
  settings.ignore('max_steps', 'per_device_train_batch_size', 'gradient_accumulation_steps', 'seed')
  const optim: Optim = {
    lr: settings.number('learning_rate'),
    lr_warmup_steps: 0,
    lr_scheduler_type: 'constant',
    min_lr_ratio: 0,
    betas: [settings.number('adam_beta1', 0.9), settings.number('adam_beta2', 0.999)],
    weight_decay: settings.number('weight_decay', 0),
    decay_norms: false,
  }
  const read = {
    beta: settings.number('beta'),
    temperature: settings.number('temperature', 1),
    grad_clip: settings.number('max_grad_norm', 1),
  }
  const response_length = settings.number('max_completion_length')
  const unread = settings.unused()
  if (unread.length > 0)
    throw new CaseError(`${name}: ${unread.join(', ')} mean nothing to the lab`)
  const updates = run.list('updates').map((expected) => ({
    expected,
    parts: expected.list('micro_batches'),
  }))
  const prompt_length = Math.max(
    ...updates.flatMap(({ parts }) => parts.map((part) => part.matrix('prompt_ids').columns)),
  )
  const size = { prompt_length, response_length }
  return {
    name,
    optim,
    ...read,
    updates: updates.map(({ expected, parts }) => ({
      expected,
      micro_batches: parts.map((part) => readMicroBatch(part, size, student)),
    })),
  }
}

function readMicroBatch(
  part: Fields,
  size: { readonly prompt_length: number; readonly response_length: number },
  { eos_token_ids }: HfModel,
): DistillMicroBatch {
  const prompts = part.matrix('prompt_ids')
  const { rows } = prompts
  const completions = part.matrix('completion_ids')
  const told = part.matrix('completion_mask', completions)
  const { response_length: R } = size
  const left = (values: Float64Array) => widenedLeft(values, prompts.columns, size.prompt_length)
  const prompt = {
    input_ids: left(prompts.data),
    attention_mask: left(part.matrix('prompt_mask', prompts).data),
  }
  const right = (values: Float64Array) =>
    widenRows(Uint32Array.from(values), completions.columns, R, 0)
  const batch = makeBatch(prompt, right(completions.data), { rows, ...size }, eos_token_ids)
  if (right(told.data).some((m, i) => m !== batch.response_mask[i]))
    throw new CaseError(`${part.where}.completion_mask: expected 1 up to the first end token`)
  return { batch, num_items_in_batch: part.number('num_items_in_batch'), expected: part }
}

/** [rows, columns] to [rows, width], 0 before. */
function widenedLeft(values: Float64Array, columns: number, width: number): Uint32Array {
  const rows = values.length / columns
  const wide = new Uint32Array(rows * width)
  for (let b = 0; b < rows; b++)
    wide.set(values.subarray(b * columns, (b + 1) * columns), b * width + width - columns)
  return wide
}
