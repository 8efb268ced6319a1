// Writes and reads a model's weights in a folder: weights.json says what they are, weights.f32
// holds them, little-endian.
import { existsSync, mkdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { parseExperiment } from '../../document/experiment/experiment.ts'
import { type TaskChoice, taskOf } from '../../document/experiment/fields/task_fields.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { shown } from '../../formats/errors.ts'
import { isObject } from '../../formats/json.ts'
import { firstNonfinite } from '../../host/checkpoints/sound.ts'
import { otherVocabulary, vocabularyOf } from '../../host/protocol/vocabulary.ts'
import type { HfModel } from '../../model/hf/hf_model.ts'
import { modelShape } from '../../model/layout/config.ts'
import { paramLayout } from '../../model/layout/params.ts'
import { LabFailure, UsageError } from '../base/command.ts'
import { attempt, replaceFile, statOf } from '../base/disk.ts'
import { leadsOut, readInput, readJson } from '../input/input_file.ts'

const FORMAT = 'understory-weights-1'

interface WeightsHeader {
  readonly format: typeof FORMAT
  /** Fields that the values depend on; must be equal to be loaded. */
  readonly model: Experiment['model']
  readonly task: Experiment['task']
  /** The text of every token id; folders of earlier versions do not say it. */
  readonly tokens?: readonly string[]
  readonly count: number
  /** Training steps behind them and the seed they came from: for the reader, not checked. */
  readonly step: number
  readonly seed: number
}

export function saveWeights(
  folder: string,
  experiment: Experiment,
  step: number,
  weights: Float32Array,
): void {
  refuseSave(folder)
  mkdirSync(folder, { recursive: true })
  const { model, task, seed } = experiment
  const header: WeightsHeader = {
    format: FORMAT,
    model,
    task,
    tokens: vocabularyOf(task).tokens,
    count: weights.length,
    step,
    seed,
  }
  const bytes = new DataView(new ArrayBuffer(weights.length * 4))
  weights.forEach((value, i) => {
    bytes.setFloat32(i * 4, value, true)
  })
  replaceFile(join(folder, 'weights.f32'), new Uint8Array(bytes.buffer))
  replaceFile(join(folder, 'weights.json'), `${JSON.stringify(header, undefined, 2)}\n`)
}

/** Refuses a folder for weights that is none, or that holds other files under their names. Throws
 * UsageError or LabFailure. */
export function refuseSave(folder: string): void {
  if (folder === '') throw new UsageError('--save: expected the name of a folder, got nothing')
  const found = statOf(folder)
  if (found && !found.isDirectory())
    throw new LabFailure(`--save: ${folder} is not a folder. Name one that is, or a new one`)
  const held = ['weights.json', 'weights.f32'].find((name) => existsSync(join(folder, name)))
  if (held === undefined || attempt(() => readHeader(join(folder, 'weights.json'))) === undefined)
    return
  throw new LabFailure(
    `--save: ${folder} holds a ${held} that train --save did not write. Name another folder, or move it away`,
  )
}

/** Fields of the model that the meaning of its weights does not depend on. */
const LEFT_OPEN = [
  'enable_gradient_checkpointing',
  'activations_dtype',
  'padding_idx',
  'lora',
  'steering_vectors',
  'lenses',
  'dtype',
  'vocab_size',
  'source',
  'source_name',
  'source_address',
]

/** Reads what saveWeights wrote. Throws LabFailure when it is not for this experiment's model and
 * task: a task fixes the vocabulary, so weights of another would load and mean nothing. */
export function loadWeights(folder: string, experiment: Experiment): Float32Array {
  const file = join(folder, 'weights.json')
  if (!existsSync(file)) throw new LabFailure(`${folder}: no weights.json; --save DIR writes one`)
  const header = readHeader(file)
  requireVocabulary(folder, header, experiment.task)
  for (const name of ['model', 'task'] as const)
    for (const [field, expected] of Object.entries(experiment[name])) {
      if (LEFT_OPEN.includes(field)) continue
      const saved = (header[name] as Record<string, unknown>)[field]
      if (saved !== expected)
        throw new LabFailure(
          `${folder}: weights of ${name}.${field} ${saved}; the experiment has ${expected}`,
        )
    }
  return readFloats(folder, header.count)
}

/** What --save wrote, as a model of its own: Hugging Face's config of it, the flat layout and the
 * weights; undefined where the folder holds no such file. Throws LabFailure for one that does not
 * fit its header. */
export function savedModel(folder: string): HfModel | undefined {
  const file = join(folder, 'weights.json')
  if (!existsSync(file)) return undefined
  const header = readHeader(file)
  requireVocabulary(folder, header, header.task)
  const { vocab_size, eos_token_ids, pad_token_id } = taskOf(header.task).tokenizer
  const { enable_gradient_checkpointing: _, padding_idx: __, lora: ___, ...rest } = header.model
  const { steering_vectors: _________, ...fields } = rest
  const { source: ____, source_name: _____, source_address: ______, ...sizes } = fields
  // Folders of earlier versions do not say what is newer.
  const { dtype: _______, activations_dtype: ________, vocab_size: rows, ...model } = sizes
  const config = { ...model, vocab_size: Math.max(rows ?? 0, vocab_size) }
  const layout = paramLayout(modelShape(config))
  if (header.count !== layout.size)
    throw new LabFailure(
      `${file}: expected ${layout.size} weights of this model, got ${header.count}`,
    )
  const weights = readFloats(folder, header.count)
  return {
    config,
    head: 'lm_head',
    layout,
    weights,
    dtype: 'F32',
    eos_token_ids: [...eos_token_ids],
    pad_token_id,
  }
}

/** Throws LabFailure for weights that were made with other tokens than `task` has. */
function requireVocabulary(folder: string, header: WeightsHeader, task: TaskChoice): void {
  const other = otherVocabulary(header.tokens ?? vocabularyOf(header.task).tokens, task)
  if (other !== undefined) throw new LabFailure(`${folder}: weights ${other}`)
}

function readFloats(folder: string, count: number): Float32Array<ArrayBuffer> {
  requireInside(folder, 'weights.f32')
  const bytes = readInput(join(folder, 'weights.f32'))
  if (bytes.byteLength !== count * 4)
    throw new LabFailure(
      `${folder}: weights.f32 has ${bytes.byteLength} bytes, expected ${count * 4}`,
    )
  const weights = Float32Array.from({ length: count }, (_, i) => bytes.readFloatLE(i * 4))
  const at = firstNonfinite(weights)
  if (at >= 0)
    throw new LabFailure(
      `${folder}: weights.f32: weight ${at}: expected a finite number, found ${weights[at]}; save them again from a sound run`,
    )
  return weights
}

function requireInside(folder: string, name: string): void {
  const why = leadsOut(folder, name)
  if (why !== undefined)
    throw new LabFailure(`${join(folder, name)}: expected a file, found ${why}`)
}

/** Throws LabFailure where it is not as saveWeights writes it. */
function readHeader(file: string): WeightsHeader {
  requireInside(dirname(file), basename(file))
  const header = readJson(file)
  if (!isObject(header) || header.format !== FORMAT)
    throw new LabFailure(`${file}: expected a header written by --save`)
  const { model, task, tokens, count } = header
  if (!isObject(model) || !isObject(task))
    throw new LabFailure(`${file}: expected model and task as --save writes them, found neither`)
  if (
    tokens !== undefined &&
    !(Array.isArray(tokens) && tokens.every((t) => typeof t === 'string'))
  )
    throw new LabFailure(`${file}: tokens: expected a list of texts, found ${shown(tokens)}`)
  if (!Number.isSafeInteger(count) || Number(count) < 0)
    throw new LabFailure(`${file}: count: expected a whole number, found ${shown(count)}`)
  const parsed = parseExperiment({ model, task })
  // Phases are not its business.
  const issue = parsed.ok
    ? undefined
    : parsed.issues.find(({ path }) => /^(model|task)\b/.test(path))
  if (issue) throw new LabFailure(`${file}: ${issue.path}: ${issue.message}`)
  return header as unknown as WeightsHeader
}
