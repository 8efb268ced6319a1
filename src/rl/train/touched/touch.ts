// Touches one model or two on a device of their own: what each part of the one does, what each of
// the two has learned, where an answer travels, or what wrote a token.

import { memorySize } from '../../../kernels/device/base/errors.ts'
import { MemoryPlan } from '../../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../../kernels/device/gpu.ts'
import { partsOf } from '../../../model/interventions/parts.ts'
import { mixtures, requireSameShape } from '../../../model/interventions/transplant.ts'
import { ownAdapter, vectorsByLayer } from '../../../model/layout/adapter_layout.ts'
import { bareConfig, modelShape } from '../../../model/layout/config.ts'
import { paramLayout } from '../../../model/layout/params.ts'
import type { TranslatedReadout } from '../../../model/layout/readout.ts'
import { modelHash, writeLens } from '../../../model/lenses/lens_file.ts'
import type { LensSettings } from '../../config/lens_settings.ts'
import type { TrainerConfig } from '../../config/trainer_config.ts'
import { encodeSample } from '../../look/lens_texts.ts'
import type { LensSample, PartCosts } from '../../look/observation.ts'
import { planChanges } from './answers/changed_answers.ts'
import { HeldOut } from './answers/held_out.ts'
import { partCosts } from './answers/part_costs.ts'
import { type Attributed, attribution, planAttribution } from './attribution.ts'
import { type Exchange, type ExchangeSource, exchanged } from './exchange.ts'
import { pairsOf, typedPair } from './pairs.ts'
import { type Patching, patching, planPatching } from './patching.ts'
import { type Probes, type ProbeWork, planProbes, probed } from './probes.ts'
import { type GivenLens, givenLenses, planReadings, type Readings, readings } from './readings.ts'
import {
  planSteering,
  requireLayers,
  type Steering,
  type SteeringWork,
  steered,
} from './steering.ts'

/** A model in the layout without an adapter; behind its weights lie the vectors that a run
 * trains. */
export interface Touchable {
  /** Default: this run. */
  readonly name?: string
  readonly step: number
  readonly config: TrainerConfig
  readonly weights: Float32Array
}

/** A model, or what reads it when its turn comes. */
export type Given<T> = T | (() => Promise<T>)
const loaded = <T extends object>(given: Given<T>): T | Promise<T> =>
  typeof given === 'function' ? given() : given

/** What is done: to one model; where parts are exchanged, to two; where probes are fitted or layers
 * are read, to any number of one run in turn. */
export type TouchWork =
  /** `problems`: held-out problems at most; `layers`: of these blocks alone, from 1. */
  | { readonly what: 'parts'; readonly problems: number; readonly layers?: readonly number[] }
  /** `other`: the name of the second model's run, where that is another one. */
  | { readonly what: 'exchange'; readonly problems: number; readonly other?: string | undefined }
  /** So many pairs of held-out problems, or a clean and a corrupted text; `layers`: after these
   * numbers of blocks alone, from 0. */
  | ({ readonly what: 'patching'; readonly layers?: readonly number[] } & (
      | { readonly pairs: number }
      | { readonly texts: readonly [string, string] }
    ))
  /** Lenses that are fitted or read from files, and every layer under every reading; other states
   * of the run are read through the same. */
  | {
      readonly what: 'readings'
      readonly settings: LensSettings
      readonly lenses?: readonly GivenLens[]
    }
  /** A text whose tokens are taken apart. */
  | { readonly what: 'attribution'; readonly sample: LensSample }
  | ({ readonly what: 'probes' } & ProbeWork)
  | ({ readonly what: 'steering' } & SteeringWork)

/** What came of it; of two models, both ways round. */
export type Touched =
  | { readonly what: 'parts'; readonly step: number; readonly costs: PartCosts }
  | {
      readonly what: 'exchange'
      readonly steps: readonly [number, number]
      readonly other: string | undefined
      readonly exchanges: readonly [Exchange, Exchange]
    }
  | {
      readonly what: 'patching'
      readonly step: number
      readonly patching: Patching
      /** Of every token id that the pairs hold. */
      readonly texts: Readonly<Record<number, string>>
    }
  | {
      readonly what: 'readings'
      readonly step: number
      readonly readings: Readings
      /** Its lenses, as they are saved. */
      readonly files: readonly {
        readonly name: string
        readonly readout: TranslatedReadout
        readonly bytes: Uint8Array<ArrayBuffer>
      }[]
    }
  | {
      readonly what: 'attribution'
      readonly step: number
      readonly sample: LensSample
      readonly prompt_length: number
      /** Its tokens as texts. */
      readonly tokens: readonly string[]
      readonly attributed: Attributed
    }
  | { readonly what: 'probes'; readonly probes: Probes }
  | { readonly what: 'steering'; readonly steering: Steering }

/** A device that others use afterwards. */
export interface LentDevice {
  readonly gpu: Gpu
  /** `isSound`: nothing of the work is under way. */
  end(isSound: boolean): Promise<void>
}

/** What a device must give: one that is ended with the work, or one that is lent. */
export type OpenTouch = (plan: MemoryPlan) => Promise<Gpu | LentDevice>
type OnProgress = (done: number, of: number) => void

/** Throws RangeError for what cannot be done with these models or texts, ShapeError for two of
 * different shapes. `hostBytes`: that weights may take in main memory at once. */
export async function touchModels(
  open: OpenTouch,
  work: TouchWork,
  models: readonly Given<Touchable>[],
  onProgress: OnProgress,
  hostBytes = Number.POSITIVE_INFINITY,
): Promise<Touched> {
  const first = await loaded(models[0])
  if (work.what === 'exchange') requireHost(first, hostBytes)
  if (work.what === 'probes')
    return touchProbes(open, [first, ...models.slice(1)], work, onProgress)
  if (work.what === 'patching') return touchPatching(open, first, work, onProgress)
  if (work.what === 'readings')
    return touchReadings(open, [first, ...models.slice(1)], work, onProgress)
  if (work.what === 'attribution') return touchAttribution(open, first, work.sample, onProgress)
  if (work.what === 'steering') return touchSteering(open, first, work, onProgress)
  return work.what === 'exchange'
    ? touchExchange(open, [first, await loaded(models[1])], work, onProgress)
    : touchParts(open, first, work, onProgress)
}

/** With the vectors that a run trains, which no weight can hold. */
function layoutOf({ config }: Touchable) {
  const { steering_vectors } = config.model
  const model = bareConfig(config.model)
  return paramLayout(modelShape({ ...model, ...(steering_vectors && { steering_vectors }) }))
}

/** The model that a run began with, and the vectors that it has trained on it. */
function withoutVectors(model: Touchable) {
  const layout = paramLayout(modelShape(bareConfig(model.config.model)))
  const own = ownAdapter(layoutOf(model).shape)
  const flat = model.weights.subarray(layout.size)
  const trained = own && vectorsByLayer(own, flat.length > 0 ? flat : new Float32Array(own.size))
  return { ...model, layout, weights: model.weights.slice(0, layout.size), trained }
}

function requireOneTurn({ config }: Touchable): void {
  if (config.tools)
    throw new RangeError('Held-out problems are answered in one turn here; this run calls tools.')
}

/** Two models and a mixture of them are there at once. Before the second one is read. */
function requireHost({ weights, step }: Touchable, allowed: number): void {
  const bytes = 3 * weights.byteLength
  if (bytes > allowed)
    throw new RangeError(
      `Two models as large as the one after step ${step} and a mixture of them take ${memorySize(bytes)} of main memory, where they may take ${memorySize(allowed)}. Exchange parts of smaller models.`,
    )
}

async function withDevice<T>(
  open: OpenTouch,
  plan: MemoryPlan,
  work: (gpu: Gpu) => Promise<T>,
): Promise<T> {
  const opened = await open(plan)
  const { gpu, end } = 'end' in opened ? opened : { gpu: opened, end: async () => opened.destroy() }
  let isSound = false
  try {
    const found = await work(gpu)
    isSound = true
    return found
  } finally {
    await end(isSound)
  }
}

/** What switching each part off costs. */
async function touchParts(
  open: OpenTouch,
  model: Touchable,
  { problems, layers }: Extract<TouchWork, { what: 'parts' }>,
  onProgress: OnProgress,
): Promise<Touched> {
  requireOneTurn(model)
  const layout = layoutOf(model)
  requireLayers(layers, layout, 1)
  const plan = new MemoryPlan()
  planChanges(plan, model.config, layout, problems)
  const of = partsOf(layout.shape, layers).length
  let done = 0
  const onDone = () => onProgress(++done, of)
  const costs = await withDevice(open, plan, (gpu) =>
    partCosts(gpu, { ...model, layout }, problems, onDone, layers),
  )
  return { what: 'parts', step: model.step, costs }
}

async function touchExchange(
  open: OpenTouch,
  pair: readonly [Touchable, Touchable],
  { problems, other }: Extract<TouchWork, { what: 'exchange' }>,
  onProgress: OnProgress,
): Promise<Touched> {
  pair.forEach(requireOneTurn)
  const [first, second] = pair.map(
    (one, i): ExchangeSource => ({
      name: one.name ?? ((i === 1 && other) || 'this run'),
      step: one.step,
      layout: layoutOf(one),
      weights: one.weights,
    }),
  )
  const [{ config }] = pair
  if (pair.some((one) => one.config.model.steering_vectors))
    throw new RangeError(
      'A run that trains steering vectors has the weights that it began with, so there is nothing to exchange. Take “What does a direction do?” for its vectors.',
    )
  requireSameShape(first.layout, second.layout)
  const plan = new MemoryPlan()
  const room = { ...config, validation: { ...config.validation, prompts: problems } }
  HeldOut.room(plan, room, first.layout)
  const of = 2 * mixtures(first.layout.shape).length
  let done = 0
  const onDone = () => onProgress(++done, of)
  const exchanges = await withDevice(open, plan, async (gpu) => {
    const heldOut = await HeldOut.create(gpu, config, first.layout, problems)
    const right = (weights: Float32Array) => heldOut.right(weights)
    return [
      await exchanged(first, second, right, onDone),
      await exchanged(second, first, right, onDone),
    ] as const
  })
  return { what: 'exchange', steps: [first.step, second.step], other, exchanges }
}

async function touchProbes(
  open: OpenTouch,
  [first, ...others]: readonly [Touchable, ...Given<Touchable>[]],
  work: ProbeWork,
  onProgress: OnProgress,
): Promise<Touched> {
  if (work.property === 'right') requireOneTurn(first)
  const { config } = first
  const layout = layoutOf(first)
  const plan = new MemoryPlan()
  planProbes(plan, config, layout, work)
  const models = [first, ...others].map((one) => async () => {
    const model = await loaded(one)
    requireSameShape(layout, layoutOf(model))
    return model
  })
  let done = 0
  const probes = await withDevice(open, plan, (gpu) =>
    probed(gpu, { config, layout }, models, work, () => onProgress(++done, models.length)),
  )
  return { what: 'probes', probes }
}

async function touchSteering(
  open: OpenTouch,
  model: Touchable,
  work: SteeringWork,
  onProgress: OnProgress,
): Promise<Touched> {
  requireOneTurn(model)
  const of = withoutVectors(model)
  const plan = new MemoryPlan()
  planSteering(plan, of, work)
  let done = 0
  const steering = await withDevice(open, plan, (gpu) =>
    steered(gpu, of, work, (of) => onProgress(++done, of)),
  )
  return { what: 'steering', steering }
}

async function touchPatching(
  open: OpenTouch,
  model: Touchable,
  work: Extract<TouchWork, { what: 'patching' }>,
  onProgress: OnProgress,
): Promise<Touched> {
  const { task, seed } = model.config
  const pairs = 'texts' in work ? [typedPair(task, work.texts)] : pairsOf(task, seed, work.pairs)
  if (pairs.length === 0)
    throw new RangeError(
      'The task has no two held-out problems of one length with different answers. Type two texts.',
    )
  const [{ clean }] = pairs
  const layout = layoutOf(model)
  const { layers } = work
  requireLayers(layers, layout)
  const plan = new MemoryPlan()
  planPatching(plan, layout, clean.length, layers)
  let done = 0
  const onDone = (of: number) => onProgress(++done, of)
  const found = await withDevice(open, plan, (gpu) =>
    patching(gpu, { ...model, layout }, pairs, onDone, layers),
  )
  const ids = found.pairs.flatMap((pair) => [
    ...pair.clean,
    ...pair.corrupted,
    pair.answer,
    pair.wrong,
  ])
  const texts = Object.fromEntries(ids.map((id) => [id, task.tokenizer.tokens[id] ?? `<${id}>`]))
  return { what: 'patching', step: model.step, patching: found, texts }
}

async function touchReadings(
  open: OpenTouch,
  [model, ...rest]: readonly [Touchable, ...Given<Touchable>[]],
  { settings, lenses: named = [] }: Extract<TouchWork, { what: 'readings' }>,
  onProgress: OnProgress,
): Promise<Touched> {
  requireOneTurn(model)
  const layout = layoutOf(model)
  const plan = new MemoryPlan()
  planReadings(plan, model.config, layout, settings)
  const owner = { shape: layout.shape, hash: modelHash(model.weights) }
  const given = givenLenses(named, owner)
  const others = rest.map((one) => async () => {
    const other = await loaded(one)
    requireSameShape(layout, layoutOf(other))
    return other
  })
  const { readings: found, lenses } = await withDevice(open, plan, (gpu) =>
    readings(gpu, { ...model, layout }, { settings, given, others }, onProgress),
  )
  const files = lenses.map((lens) => ({
    name: `${lens.readout}.safetensors`,
    readout: lens.readout,
    bytes: writeLens(lens, owner),
  }))
  return { what: 'readings', step: model.step, readings: found, files }
}

async function touchAttribution(
  open: OpenTouch,
  model: Touchable,
  sample: LensSample,
  onProgress: OnProgress,
): Promise<Touched> {
  const { tokenizer } = model.config.task
  const { ids, prompt_length } = encodeSample(sample, tokenizer, Number.POSITIVE_INFINITY)
  const layout = layoutOf(model)
  const plan = new MemoryPlan()
  planAttribution(plan, layout, ids.length)
  const attributed = await withDevice(open, plan, (gpu) =>
    attribution(gpu, { ...model, layout }, ids),
  )
  onProgress(1, 1)
  const tokens = ids.map((id) => tokenizer.tokens[id] ?? `<${id}>`)
  return { what: 'attribution', step: model.step, sample, prompt_length, tokens, attributed }
}
