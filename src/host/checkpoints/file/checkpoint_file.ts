// Writes and reads a checkpoint as one file: safetensors with the models, the history's columns and
// words in its header, under a checksum.

import { trainerConfig } from '../../../document/experiment/trainer_config.ts'
import { ModelFileError } from '../../../formats/errors.ts'
import { readTensor } from '../../../formats/safetensors.ts'
import { type OpenSafetensors, openSafetensors } from '../../../formats/safetensors_header.ts'
import { writeSafetensors } from '../../../formats/safetensors_write.ts'
import type { TrainerState } from '../../../rl/train/state.ts'
import { Series } from '../../columns/series.ts'
import type { Checkpoint } from './checkpoint.ts'
import { CheckpointError } from './checkpoint_error.ts'
import {
  CHECKSUM_DIGITS,
  type CheckpointHeader,
  readHeader,
  requireFormat,
  writeHeader,
} from './checkpoint_header.ts'
import {
  modelShapes,
  modelsIn,
  modelTensors,
  type NamedTensor,
  readModels,
  runModels,
  type Shapes,
} from './checkpoint_models.ts'
import { pairsShapes, pairsTensors, readPairs } from './checkpoint_pairs.ts'
import {
  type Broken,
  brokenCoefficient,
  brokenDocument,
  brokenNumbers,
  brokenPosition,
  brokenTold,
} from './checkpoint_sense.ts'
import { readStale, staleShapes, staleTensors } from './checkpoint_stale.ts'

/** How JSON.stringify writes the one key of the header that may occur outside of all strings. */
const CHECKSUM_KEY = '"checksum":"'

/** Where the entropy bonus follows a target: its weight, and the entropy of the last step. */
const ENTROPY = 'run.entropy'

/** Of the problems of a set that can be left out. */
const [RATES, RATED_IN] = ['run.rates', 'run.rated_in']

const stepsName = (column: number) => `history.steps.${column}`
const valuesName = (metric: string) => `history.${metric}`

/** The file of a checkpoint. It reads the arrays of the checkpoint before it returns the promise.
 * Throws RangeError where the state is not one of its experiment. */
export async function encodeCheckpoint(checkpoint: Checkpoint): Promise<Uint8Array<ArrayBuffer>> {
  const { run, history } = checkpoint
  const { experiment, trainer } = run
  const { columns, metrics } = stepColumns(history.series)
  const { preferences } = trainer
  const { measured } = trainer.difficulty
  const f64 = (values: ArrayLike<number>) =>
    ({ as: 'F64', shape: [values.length], data: Float64Array.from(values) }) as const
  const tensors: NamedTensor[] = [
    ...modelTensors(runModels(experiment), trainer),
    ...(preferences ? pairsTensors(preferences) : []),
    ...staleTensors(trainer.stale ?? []),
    ...(measured
      ? [[RATES, f64(measured.rates)] as const, [RATED_IN, f64(measured.epochs)] as const]
      : []),
    ['run.scores', f64(trainer.scores)],
    ['run.kl_coef', f64(trainer.kl_coef === null ? [] : [trainer.kl_coef])],
    ...(trainer.entropy
      ? [[ENTROPY, f64([trainer.entropy.entropy_coef, trainer.entropy.entropy])] as const]
      : []),
    ...columns.map((steps, i): NamedTensor => [stepsName(i), f64(steps)]),
    ...[...history.series].map(
      ([metric, { values, length }]): NamedTensor => [
        valuesName(metric),
        f64(values.subarray(0, length)),
      ],
    ),
  ]
  const bytes = writeSafetensors(tensors, writeHeader(checkpoint, metrics))
  // Copying and hashing a large model block for some 30 ms each: a step may go between them.
  await new Promise((resolve) => setTimeout(resolve))
  return sealed(bytes)
}

/** Most metrics come at the same steps, so each column of steps is kept once. */
function stepColumns(series: ReadonlyMap<string, Series>) {
  const columns: Float64Array[] = []
  const metrics = [...series].map(([metric, { steps, length }]) => {
    const own = steps.subarray(0, length)
    const known = columns.findIndex((other) => isSame(other, own))
    return [metric, known >= 0 ? known : columns.push(own) - 1] as const
  })
  return { columns, metrics }
}

const isSame = (a: Float64Array, b: Float64Array): boolean =>
  a.length === b.length && a.every((step, i) => step === b[i])

/** Puts the checksum of a file with 64 zeros in its place. Throws RangeError where it has no place
 * for one. */
export async function sealed(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const at = checksumAt(bytes)
  if (at === undefined) throw new RangeError('checkpoint: expected a place for its checksum')
  const zeros = '0'.repeat(CHECKSUM_DIGITS)
  new TextEncoder().encodeInto(zeros, bytes.subarray(at))
  new TextEncoder().encodeInto(await sha256(bytes), bytes.subarray(at))
  return bytes
}

/** First byte of the checksum's digits. */
function checksumAt(bytes: Uint8Array): number | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const header = bytes.subarray(8, 8 + view.getUint32(0, true))
  // One character for each byte, whatever they are.
  const found = new TextDecoder('latin1').decode(header).indexOf(CHECKSUM_KEY)
  const at = 8 + found + CHECKSUM_KEY.length
  return found < 0 || at + CHECKSUM_DIGITS > bytes.length ? undefined : at
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Reads what encodeCheckpoint wrote; `file` names it in errors. Takes hostile input: everything is
 * checked against what the experiment in it implies before anything of that size is allocated.
 * Throws CheckpointError and nothing else. */
export async function decodeCheckpoint(bytes: Uint8Array, file: string): Promise<Checkpoint> {
  try {
    const opened = openSafetensors(bytes, file)
    requireFormat(opened.metadata, file)
    await requireChecksum(bytes, opened)
    return read(opened)
  } catch (error) {
    if (error instanceof CheckpointError) throw error
    const said = error instanceof Error ? error.message : String(error)
    const message = error instanceof ModelFileError ? said.slice(file.length + 2) : said
    throw new CheckpointError(file, message)
  }
}

async function requireChecksum(
  bytes: Uint8Array,
  { metadata, file }: OpenSafetensors,
): Promise<void> {
  const { checksum } = metadata
  const at = checksumAt(bytes)
  if (at === undefined || !/^[0-9a-f]{64}$/.test(checksum ?? ''))
    throw new CheckpointError(file, `checksum: expected ${CHECKSUM_DIGITS} hexadecimal digits`)
  const copy = await sealed(bytes.slice())
  const found = new TextDecoder().decode(copy.subarray(at, at + CHECKSUM_DIGITS))
  if (found !== checksum)
    throw new CheckpointError(
      file,
      `checksum: expected ${checksum.slice(0, 8)}… of the bytes, found ${found.slice(0, 8)}…`,
    )
}

function read(opened: OpenSafetensors): Checkpoint {
  const { file } = opened
  const fail = (message: string): never => {
    throw new CheckpointError(file, message)
  }
  const header = readHeader(opened.metadata, file)
  const { counters, experiment, document, pairs, marks, record, parent, made_on } = header
  const require = (broken: Broken) => broken && fail(`${broken[0]}: ${broken[1]}`)
  require(brokenDocument(header) ?? brokenPosition(header) ?? brokenTold(header))
  const models = modelsIn(runModels(experiment), opened)
  const pairShapes = pairs && pairsShapes(pairs, experiment, opened)
  if (pairs && !pairShapes) fail('tensor pairs.input_ids: expected rows that fit the experiment')
  const shapes = [
    ...modelShapes(models),
    ...(pairShapes ?? []),
    ...staleShapes(header.stale, opened),
  ]
  requireTensors(opened, new Map(shapes), header)
  const series = readHistory(opened, header)
  const { done, ...rest } = counters
  const vocab_size = trainerConfig(experiment).model.vocab_size
  const preferences = pairs && readPairs(pairs, opened, vocab_size)
  if (typeof preferences === 'string') return fail(`preferences: ${preferences}`)
  const stale = readStale(header.stale, opened, { step: counters.step, vocab_size })
  if (typeof stale === 'string') return fail(`stale: ${stale}`)
  const states = readModels(models, opened)
  require(brokenNumbers(states))
  const trainer: TrainerState = {
    ...rest,
    ...states,
    ...(preferences && { preferences }),
    ...(stale.length > 0 && { stale }),
    difficulty: {
      level_starts: header.level_starts,
      ...(opened.entries.has(RATES) && {
        measured: {
          rates: Float64Array.from(readTensor(opened, RATES)),
          epochs: Float64Array.from(readTensor(opened, RATED_IN)),
        },
      }),
    },
    scores: [...readTensor(opened, 'run.scores')],
    kl_coef: readTensor(opened, 'run.kl_coef')[0] ?? null,
    entropy: opened.entries.has(ENTROPY) ? entropyOf(readTensor(opened, ENTROPY)) : null,
  }
  require(brokenCoefficient(trainer.kl_coef, experiment, trainer.phase))
  return {
    record,
    ...(parent && { parent }),
    run: { trainer, experiment, document, done },
    history: { series, ...marks },
    made_on,
  }
}

const entropyOf = ([entropy_coef, entropy]: ArrayLike<number> & Iterable<number>) => ({
  entropy_coef,
  entropy,
})

/** Exactly the tensors that the experiment and the header ask for, each in its dtype and shape. */
function requireTensors(
  { entries, file }: OpenSafetensors,
  known: Shapes,
  { metrics, counters, experiment }: CheckpointHeader,
): void {
  const fail = (name: string, expected: string, found: string): never => {
    throw new CheckpointError(file, `tensor ${name}: expected ${expected}, found ${found}`)
  }
  const require = (name: string, dtype: string, shape: readonly number[]) => {
    const entry = entries.get(name)
    const found = entry ? `${entry.dtype} [${entry.shape}]` : 'nothing'
    const expected = `${dtype} [${shape}]`
    if (found !== expected) fail(name, expected, found)
  }
  const lengthOf = (name: string): number => {
    const entry = entries.get(name)
    return entry?.shape.length === 1 ? entry.size : fail(name, 'a list', 'nothing of the kind')
  }
  for (const [name, { dtype, shape }] of known) require(name, dtype, shape)
  const wanted = new Set(known.keys())
  const want = (name: string, most: number) => {
    const length = lengthOf(name)
    if (length > most) fail(name, `at most ${most} values`, `${length}`)
    require(name, 'F64', [length])
    wanted.add(name)
  }
  want('run.scores', counters.step)
  want('run.kl_coef', 1)
  for (const name of entries.has(RATES) ? [RATES, RATED_IN] : []) {
    require(name, 'F64', [experiment.data.train_max_samples ?? 0])
    wanted.add(name)
  }
  if (entries.has(ENTROPY)) {
    require(ENTROPY, 'F64', [2])
    wanted.add(ENTROPY)
  }
  for (const [metric, column] of metrics) {
    want(stepsName(column), counters.step + 1)
    require(valuesName(metric), 'F64', [lengthOf(stepsName(column))])
    wanted.add(valuesName(metric))
  }
  for (const name of entries.keys())
    if (!wanted.has(name)) fail(name.slice(0, 80), 'no tensor of this name', 'one')
}

function readHistory(opened: OpenSafetensors, header: CheckpointHeader): Map<string, Series> {
  const columns = new Map<number, ArrayLike<number>>()
  const stepsOf = (column: number) => {
    const known = columns.get(column)
    if (known) return known
    const steps = readTensor(opened, stepsName(column))
    steps.forEach((step, i) => {
      const least = i === 0 ? 0 : steps[i - 1] + 1
      if (!(Number.isInteger(step) && step >= least && step <= header.counters.step))
        throw new CheckpointError(
          opened.file,
          `tensor ${stepsName(column)}: expected rising steps up to ${header.counters.step}, found ${step}`,
        )
    })
    columns.set(column, steps)
    return steps
  }
  return new Map(
    header.metrics.map(([metric, column]) => {
      const steps = stepsOf(column)
      const values = readTensor(opened, valuesName(metric))
      const series = Series.of(
        Float64Array.from(steps),
        Float64Array.from(values),
        header.thinned.get(metric),
      )
      return [metric, series] as const
    }),
  )
}
