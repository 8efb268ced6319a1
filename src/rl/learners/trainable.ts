// A model and the optimizer that trains it: weights, gradients, moments, and the recorded clip and AdamW.
import type { Gpu } from '../../kernels/device/gpu.ts'
import type { LiveValues, Program, Recorder } from '../../kernels/device/program.ts'
import type { Allocator, Tensor } from '../../kernels/device/tensor.ts'
import { find_nonfinite_gradient } from '../../kernels/nonfinite/nonfinite.ts'
import {
  adamw_update,
  adamw_update_rates,
  CONTROL,
  grad_norm_finish,
  grad_norm_finish_rates,
  grad_norm_partial,
  OPTIMIZER_BLOCKS,
} from '../../kernels/optimizer/optimizer.ts'
import { inverseFrequencies } from '../../model/params/config.ts'
import { CHUNK } from '../../model/params/flat_params.ts'
import {
  chunkSegments,
  type ParamLayout,
  type ParamTensors,
  paramTensors,
  trainedPrefix,
} from '../../model/params/params.ts'
import type { Model } from '../../model/transformer/model.ts'
import { type Optim, weightDecays } from '../config/optim.ts'
import { frozenRuns } from '../config/trained_segments.ts'

/** torch.optim.AdamW's eps. */
const ADAM_EPS = 1e-8

/** Which kernels a model runs, where they are not the default ones. */
export type KernelChoice = Pick<Model, 'matmul' | 'fusion'>

export interface TrainableTensors {
  readonly model: Model
  readonly gradients: ParamTensors
  readonly m: Tensor
  readonly v: Tensor
  readonly chunk_segment: Tensor
  /** 1 - beta^t of each segment, [segments, 2]. */
  readonly corrections: Tensor
  /** Factor of the learning rate of each segment, where a phase has any; [segments]. */
  readonly lr_factors: Tensor
  readonly partials: Tensor
  /** The last optimizer step, [CONTROL.length]. */
  readonly control: Tensor
  /** control after each optimizer step of this training step, [updates, CONTROL.length]. */
  readonly history: Tensor
  /** Where the gradients of an optimizer step that was left out are not finite (lastNonfinite), u32 [updates]. */
  readonly nonfinite: Tensor<'u32'>
}

/**
 * Allocates a model with its gradients and moments; `updates` = most optimizer steps in one training step, `kernels` =
 * which ones it runs.
 */
export function createTrainableTensors(
  alloc: Allocator,
  layout: ParamLayout,
  updates: number,
  kernels: KernelChoice = {},
): TrainableTensors {
  const { shape } = layout
  const flat = (label: string, kind: 'weights' | 'gradients' | 'optimizer') =>
    alloc.tensor(label, 'f32', [layout.size], { kind })
  const optimizer = (label: string, ...dims: number[]) =>
    alloc.tensor(label, 'f32', dims, { kind: 'optimizer' })
  const weights = paramTensors(alloc, layout, flat('weights', 'weights'))
  const inv_freq = alloc.tensor('inv_freq', 'f32', [shape.head_dim / 2], { kind: 'weights' })
  return {
    model: { shape, weights, inv_freq, ...kernels },
    gradients: paramTensors(alloc, layout, flat('gradients', 'gradients')),
    m: flat('adam_m', 'optimizer'),
    v: flat('adam_v', 'optimizer'),
    chunk_segment: alloc.tensor('chunk_segment', 'u32', [layout.size / CHUNK], {
      kind: 'optimizer',
    }),
    corrections: optimizer('corrections', layout.segment_ends.length, 2),
    lr_factors: optimizer('lr_factors', layout.segment_ends.length),
    partials: optimizer('norm_partials', OPTIMIZER_BLOCKS),
    control: optimizer('control', CONTROL.length),
    history: optimizer('history', updates, CONTROL.length),
    nonfinite: alloc.tensor('nonfinite', 'u32', [updates], { kind: 'optimizer' }),
  }
}

const APPLY_LIVE = [
  'lr',
  'beta1',
  'beta2',
  'weight_decay',
  'vector_weight_decay',
  'max_norm',
  'update',
] as const
type ApplyLive = (typeof APPLY_LIVE)[number]

/**
 * Global norm, clip and AdamW over the parameters that the policy of `layer` trains; the others are not touched. With
 * `lr_factors` over those of a factor above 0.
 */
function recordApply(
  alloc: Allocator,
  r: Recorder<ApplyLive>,
  t: TrainableTensors,
  layout: ParamLayout,
  layer: number,
  lr_factors: LrFactors,
): void {
  const { count, segments } = lr_factors
    ? { count: layout.size, segments: layout.segment_ends.length }
    : trainedPrefix(layout, layer)
  if (lr_factors)
    for (const run of frozenRuns(layout, lr_factors)) {
      const { flat } = t.gradients
      r.clear(alloc.view(flat, 'frozen_gradients', run.offset, [run.count]))
    }
  const { partials, control, corrections, chunk_segment, m, v } = t
  r.run(grad_norm_partial, { count }, { gradients: t.gradients.flat, partials })
  const finish = {
    max_norm: (live: LiveValues<ApplyLive>) => live.max_norm,
    segments: layout.segment_ends.length,
    active_segments: segments,
    one_minus_beta1: (live: LiveValues<ApplyLive>) => 1 - live.beta1,
    one_minus_beta2: (live: LiveValues<ApplyLive>) => 1 - live.beta2,
  }
  const update = {
    count,
    lr: (live: LiveValues<ApplyLive>) => live.lr,
    beta1: (live: LiveValues<ApplyLive>) => live.beta1,
    beta2: (live: LiveValues<ApplyLive>) => live.beta2,
    one_minus_beta1: finish.one_minus_beta1,
    one_minus_beta2: finish.one_minus_beta2,
    eps: ADAM_EPS,
    weight_decay: (live: LiveValues<ApplyLive>) => live.weight_decay,
    vector_weight_decay: (live: LiveValues<ApplyLive>) => live.vector_weight_decay,
  }
  const state = {
    gradients: t.gradients.flat,
    control,
    chunk_segment,
    corrections,
    weights: t.model.weights.flat,
    m,
    v,
  }
  if (lr_factors) {
    const rates = { lr_factors: t.lr_factors }
    r.run(grad_norm_finish_rates, finish, { partials, control, corrections, ...rates })
    r.run(adamw_update_rates, update, { ...state, ...rates })
  } else {
    r.run(grad_norm_finish, finish, { partials, control, corrections })
    r.run(adamw_update, update, state)
  }
  r.run(
    find_nonfinite_gradient,
    { count, first: 0, slot: (live) => live.update },
    { values: t.gradients.flat, marks: control, found: t.nonfinite },
  )
}

/** A factor of the learning rate for every segment (trained_segments.ts); undefined = the whole prefix at one rate. */
type LrFactors = readonly number[] | undefined

const applyKey = (layer: number, lr_factors: LrFactors): string =>
  lr_factors ? frozenKey(lr_factors) : `layer ${layer}`

/** Programs differ in what they leave out; the rates themselves are data. */
const frozenKey = (lr_factors: readonly number[]) =>
  lr_factors.map((factor) => (factor === 0 ? '-' : '+')).join('')

/** A model that learns. Calls encode GPU work in order; nothing is read back but by exportWeights. */
export class Trainable {
  readonly layout: ParamLayout
  readonly tensors: TrainableTensors
  #gpu: Gpu
  #clear: Program<never>
  #apply = new Map<string, Program<ApplyLive>>()
  /** What lr_factors holds. */
  #lr_factors = ''
  #updates = 0

  private constructor(
    gpu: Gpu,
    layout: ParamLayout,
    tensors: TrainableTensors,
    clear: Program<never>,
  ) {
    this.#gpu = gpu
    this.layout = layout
    this.tensors = tensors
    this.#clear = clear
  }

  /** Uploads what depends on the layout alone, and the weights. */
  static async create(
    gpu: Gpu,
    layout: ParamLayout,
    tensors: TrainableTensors,
    weights: Float32Array,
  ): Promise<Trainable> {
    gpu.write(tensors.model.weights.flat, weights)
    gpu.write(tensors.model.inv_freq, Float32Array.from(inverseFrequencies(layout.shape)))
    gpu.write(tensors.chunk_segment, chunkSegments(layout))
    const clear = await gpu.record('clear_gradients', [], (r) => r.clear(tensors.gradients.flat))
    return new Trainable(gpu, layout, tensors, clear)
  }

  /** Records the optimizer step of the policy of `layer`, if that has not been done. */
  async prepare(layer: number, lr_factors?: LrFactors): Promise<void> {
    const key = applyKey(layer, lr_factors)
    if (this.#apply.has(key)) return
    const record = (r: Recorder<ApplyLive>) =>
      recordApply(this.#gpu, r, this.tensors, this.layout, layer, lr_factors)
    this.#apply.set(key, await this.#gpu.record('adamw', APPLY_LIVE, record))
  }

  /** Optimizer steps since beginStep. */
  get updates(): number {
    return this.#updates
  }

  beginStep(): void {
    this.#updates = 0
    this.#gpu.clear(this.tensors.nonfinite)
  }

  clearGradients(): void {
    this.#gpu.replay(this.#clear)
  }

  /** Clips the gradients and takes one AdamW step with the learning rate `lr`, of each segment times its factor. */
  apply(layer: number, optim: Optim, max_norm: number, lr: number, lr_factors?: LrFactors): void {
    const program = this.#apply.get(applyKey(layer, lr_factors))
    if (!program) throw new Error(`trainable: layer ${layer} was not prepared`)
    if (lr_factors) this.#setFactors(lr_factors)
    const { control, history } = this.tensors
    const [beta1, beta2] = optim.betas
    const decay = weightDecays(optim)
    const update = this.#updates
    this.#gpu.replay(program, { lr, beta1, beta2, ...decay, max_norm, update })
    this.#gpu.copy(control, history, { to_offset: this.#updates * CONTROL.length })
    this.#updates++
  }

  /** Uploads the factors where they are not those of the last step. */
  #setFactors(lr_factors: readonly number[]): void {
    const key = lr_factors.join()
    if (key === this.#lr_factors) return
    this.#gpu.write(this.tensors.lr_factors, Float32Array.from(lr_factors))
    this.#lr_factors = key
  }

  /** A new optimizer: moments, step counts and counters start from zero. */
  resetOptimizer(): void {
    const { m, v, corrections, control } = this.tensors
    for (const tensor of [m, v, corrections, control]) this.#gpu.clear(tensor)
  }

  /** The weights in the flat layout of model/params/params.ts. */
  async exportWeights(): Promise<Float32Array> {
    const [flat] = await this.#gpu.read(this.tensors.model.weights.flat)
    return flat
  }
}
