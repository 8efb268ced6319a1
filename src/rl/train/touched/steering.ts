// Finds a steering direction for each layer, from problems that a model fails to those that it
// solves or from one text to another, and what adding it does to the answers.

import type { Allocator } from '../../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../../kernels/device/gpu.ts'
import {
  readSteering,
  type SteeringVectors,
  steeringChange,
  steeringFile,
} from '../../../model/interventions/steering.ts'
import type { ParamLayout } from '../../../model/layout/params.ts'
import { modelHash } from '../../../model/lenses/lens_file.ts'
import type { TrainerConfig } from '../../config/trainer_config.ts'
import { encodeSample, type LensText } from '../../look/lens_texts.ts'
import type { ChangeCost, Untouched } from '../../look/observation.ts'
import { shuffledOrder } from '../../math/shuffle.ts'
import { type ChangedAnswer, ChangedAnswers, planChanges } from './answers/changed_answers.ts'
import { promptsOf } from './answers/problem_texts.ts'
import { planStates, type Spot, stateReader } from './state_reader.ts'

/** Where vectors come from. */
export type SteeringSource =
  /** The states of problems that are solved less those of problems that are failed, where the
   * answer begins: of one half of the problems. */
  | { readonly from: 'answers' }
  /** The mean state of one text less that of another. */
  | { readonly from: 'texts'; readonly toward: string; readonly away: string }
  | { readonly from: 'file'; readonly name: string; readonly bytes: Uint8Array }
  /** Those that the run itself has trained. */
  | { readonly from: 'run' }

export interface SteeringWork {
  readonly source: SteeringSource
  /** Held-out problems at most. */
  readonly problems: number
  /** Decides which half the vectors are made of. */
  readonly seed: number
  /** What the vectors are multiplied by. */
  readonly strengths: readonly number[]
  /** Whose vectors are measured, each by itself; absent = all, and where the run has trained them
   * all at once too. */
  readonly layers?: readonly SteeredLayer[]
}

/** A layer's vector, or those of all layers at once. */
export type SteeredLayer = number | 'all'

/** What adding the vector of a layer does. */
export type SteeringEffect = ChangeCost & {
  readonly layer: SteeredLayer
  readonly strength: number
  /** Some problems, and how they are answered without and with it. */
  readonly examples: readonly ChangedAnswer[]
}

export interface Steering extends SteeringVectors {
  readonly step: number
  /** The vectors as safetensors. */
  readonly file: Uint8Array<ArrayBuffer>
  /** That the effects are of: none that the vectors were made of. */
  readonly problems: number
  /** The vectors were made of other held-out problems. */
  readonly areOthers: boolean
  readonly untouched: Untouched
  /** Of layers whose vector is not 0, layer by layer. */
  readonly effects: readonly SteeringEffect[]
}

interface Steered {
  readonly step: number
  readonly config: TrainerConfig
  readonly layout: ParamLayout
  readonly weights: Float32Array
  /** By layer, where the run trains vectors; these weights are without them. */
  readonly trained?: readonly Float32Array[] | undefined
}

const HALVES = 0x68616c66
/** Problems of each kind that vectors are made of. */
const LEAST = 3
/** Relative to a state. */
const ROUNDING = 1e-9

/** The texts whose states make the vectors; none of a file. */
function textsOf(config: TrainerConfig, { source, problems }: SteeringWork): readonly LensText[] {
  if (source.from === 'file' || source.from === 'run') return []
  if (source.from === 'answers') return promptsOf(config, Math.min(problems, config.task.test_size))
  const { toward, away } = source
  if (toward === away) throw new RangeError('Expected two different texts, got the same one twice.')
  return [toward, away].map((prompt) => ({
    ...encodeSample(
      { prompt, response: '', is_ended: false },
      config.task.tokenizer,
      Number.POSITIVE_INFINITY,
    ),
    is_held_out: false,
  }))
}

const requireStrengths = ({ strengths }: SteeringWork): void => {
  const isUsable = strengths.length > 0 && strengths.every((x) => Number.isFinite(x) && x !== 0)
  if (!isUsable)
    throw new RangeError(
      `Expected strengths that are numbers and not 0, got ${strengths.join(', ') || 'none'}.`,
    )
}

/** Throws RangeError for layers that a model lacks. `least`: the first that there is. */
export function requireLayers(
  layers: readonly SteeredLayer[] = [],
  { shape }: ParamLayout,
  least: 0 | 1 = 0,
): void {
  const L = shape.num_hidden_layers
  const other = layers.find(
    (one) => one !== 'all' && !(Number.isInteger(one) && one >= least && one <= L),
  )
  if (other !== undefined)
    throw new RangeError(
      `Expected layers of the model, from ${least === 0 ? '0 (the embedding)' : least} to ${L}, got ${other}.`,
    )
}

const fileOf = (
  { layout, weights }: Steered,
  { name, bytes }: Extract<SteeringSource, { from: 'file' }>,
): SteeringVectors => readSteering(bytes, name, { ...layout.shape, model_hash: modelHash(weights) })

/** The vectors that a run has trained. Throws RangeError where it trains none. */
function trainedIn({ trained, weights, step }: Steered): SteeringVectors {
  if (!trained)
    throw new RangeError(
      'This run trains no steering vectors: switch them on under Model, or make vectors of its answers.',
    )
  const made = `vectors that a run trained in ${step} steps`
  return { model_hash: modelHash(weights), made, vectors: trained }
}

/** What steering takes, on a plan. Throws RangeError for texts that cannot be read, strengths that
 * do nothing and layers that the model lacks, ModelFileError for a file that does not fit. */
export function planSteering(alloc: Allocator, of: Steered, work: SteeringWork): void {
  const { config, layout } = of
  requireStrengths(work)
  requireLayers(work.layers, layout)
  if (work.source.from === 'file') fileOf(of, work.source)
  if (work.source.from === 'run') trainedIn(of)
  planChanges(alloc, config, layout, work.problems)
  const texts = textsOf(config, work)
  if (texts.length > 0) planStates(alloc, layout.shape, texts)
}

/** Problems of which half. */
const isMade = (count: number, seed: number): readonly boolean[] =>
  shuffledOrder(count, [seed, HALVES], [0, 0]).map((place) => place < count / 2)

/** Mean of some rows of [rows, C]. */
function meanOf(x: Float32Array, rows: readonly number[], cols: number): Float64Array {
  const mean = new Float64Array(cols)
  for (const row of rows) for (let c = 0; c < cols; c++) mean[c] += x[row * cols + c] / rows.length
  return mean
}

/** Mean states of two sets of spots, the first less the second, layer by layer. */
async function differences(
  read: (spots: readonly Spot[]) => Promise<Float32Array[]>,
  toward: readonly Spot[],
  away: readonly Spot[],
  cols: number,
): Promise<Float32Array[]> {
  const states = await read([...toward, ...away])
  const to = toward.map((_, i) => i)
  const from = away.map((_, i) => toward.length + i)
  return states.map((x) => {
    const base = meanOf(x, from, cols)
    const vector = meanOf(x, to, cols).map((value, c) => value - base[c])
    // States that are all the same differ by rounding alone.
    const isNone = Math.hypot(...vector) <= ROUNDING * Math.hypot(...base)
    return isNone ? new Float32Array(cols) : Float32Array.from(vector)
  })
}

/** The vectors, and the problems that are left to measure them with. */
async function made(
  gpu: Gpu,
  of: Steered,
  answers: ChangedAnswers,
  work: SteeringWork,
): Promise<SteeringVectors & { readonly which: readonly number[] }> {
  const { source, seed } = work
  const { hidden_size } = of.layout.shape
  const all = answers.is_right.map((_, i) => i)
  if (source.from === 'file') return { ...fileOf(of, source), which: all }
  if (source.from === 'run') return { ...trainedIn(of), which: all }
  const model_hash = modelHash(of.weights)
  const texts = textsOf(of.config, work)
  const { pad_token_id } = of.config.task.tokenizer
  const read = await stateReader(gpu, answers.model, texts, pad_token_id)
  if (source.from === 'texts') {
    const [toward, away] = texts.map(({ ids }, text): Spot[] =>
      ids.map((_, token) => ({ text, token })),
    )
    const vectors = await differences(read, toward, away, hidden_size)
    const made = `mean states of ${JSON.stringify(source.toward)} less those of ${JSON.stringify(source.away)}`
    return { model_hash, made, vectors, which: all }
  }
  const half = isMade(all.length, seed)
  const own = all.filter((i) => half[i])
  const spots = (right: boolean) =>
    own
      .filter((i) => answers.is_right[i] === right)
      .map((text): Spot => ({ text, token: texts[text].prompt_length - 1 }))
  const [solved, failed] = [spots(true), spots(false)]
  if (solved.length < LEAST || failed.length < LEAST)
    throw new RangeError(
      `Vectors need at least ${LEAST} solved and ${LEAST} failed problems, and of ${own.length} this state solves ${solved.length} and fails ${failed.length}. Take another state or more problems, or type two texts.`,
    )
  const vectors = await differences(read, solved, failed, hidden_size)
  const made = `mean states of ${solved.length} solved held-out problems less those of ${failed.length} failed ones, where the answer begins`
  return { model_hash, made, vectors, which: all.filter((i) => !half[i]) }
}

/** Makes or reads vectors, and measures what each does at each strength, after planSteering.
 * `onDone` is called after each, and told how many there will be. Throws RangeError where there is
 * nothing to make them of. */
export async function steered(
  gpu: Gpu,
  of: Steered,
  work: SteeringWork,
  onDone: (of: number) => void = () => {},
): Promise<Steering> {
  const answers = await ChangedAnswers.create(gpu, of, work.problems)
  const { which, ...vectors } = await made(gpu, of, answers, work)
  const some = vectors.vectors.flatMap((x, layer) => (x.some((v) => v !== 0) ? [layer] : []))
  const together = work.source.from === 'run' ? (['all'] as const) : []
  const layers = work.layers ?? [...some, ...together]
  const strengths = [...work.strengths].sort((a, b) => a - b)
  const effects: SteeringEffect[] = []
  for (const layer of layers)
    for (const strength of strengths) {
      const added = layer === 'all' ? some : [layer]
      const changes = added.map((one) => steeringChange(vectors, one, strength))
      const cost = await answers.cost(changes, which)
      effects.push({ layer, strength, ...cost, examples: answers.examples })
      onDone(layers.length * strengths.length)
    }
  const untouched = answers.untouched(which)
  const file = steeringFile(vectors)
  const areOthers = work.source.from === 'answers'
  return { ...vectors, file, step: of.step, problems: which.length, areOthers, untouched, effects }
}
