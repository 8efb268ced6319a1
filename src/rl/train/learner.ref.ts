// Trains a model in float64, and gives the rows of a batch as the references take them.
import { muonRef } from '../../kernels/muon/muon.ref.ts'
import { type AdamwState, adamwRef } from '../../kernels/optimizer/optimizer.ref.ts'
import { steeringLayout } from '../../model/layout/adapter_layout.ts'
import { type ModelConfig, modelShape } from '../../model/layout/config.ts'
import { chunkSegments } from '../../model/layout/flat_params.ts'
import { type Head, paramLayout } from '../../model/layout/params.ts'
import type { RefArrays } from '../../model/transformer/operations.ref.ts'
import { refReadout } from '../../model/transformer/policy.ref.ts'
import { forwardRef, type RefCache } from '../../model/transformer/transformer.ref.ts'
import { type Muon, muonLrRatio } from '../config/muon.ts'
import { muonOf, type Optim, weightDecays } from '../config/optim.ts'
import type { TrainedLayout, TrainedPart } from '../config/trained_segments.ts'
import type { RolloutBatch } from '../experience/batch.ts'
import type { RefPhase } from '../learners/inner.ref.ts'
import { type MuonMatrix, muonMatrices } from '../learners/muon/muon.ts'
import { trainedWhere } from '../learners/policy_backward.ref.ts'

type Numbers = ArrayLike<number>

/** A model that learns, in float64; with `base`, the steering vectors of the config on these frozen
 * weights. */
export class Learner {
  readonly layout: TrainedLayout
  readonly state: AdamwState
  readonly #config: ModelConfig
  readonly #base: RefArrays

  constructor(config: ModelConfig, head: Head, weights: Numbers, base: RefArrays = {}) {
    const shape = modelShape(config)
    const { steering_vectors } = shape
    this.#config = config
    this.#base = base
    this.layout = steering_vectors
      ? steeringLayout(shape, steering_vectors)
      : paramLayout(shape, head)
    this.state = {
      weights: Float64Array.from(weights),
      m: new Float64Array(this.layout.size),
      v: new Float64Array(this.layout.size),
      steps: this.layout.segment_ends.map(() => 0),
    }
  }

  get params(): RefArrays {
    return this.named(this.state.weights)
  }

  /** A flat array under the names of its parameters, beside the frozen ones. */
  named(flat: Float64Array): RefArrays {
    const own = this.layout.params.map(
      ({ name, offset, size }) => [name, flat.subarray(offset, offset + size)] as const,
    )
    return { ...this.#base, ...Object.fromEntries(own) }
  }

  forward(rows: Rows, params = this.params): RefCache {
    const adapter = this.#config.steering_vectors && { factors: params, scaleOf: () => 1 }
    return forwardRef(this.#config, params, rows, { adapter })
  }

  /** One optimizer step of the parameters that `part` trains; returns the norm before clipping. */
  apply(grads: RefArrays, part: TrainedPart, optim: Optim, gradClip: number): number {
    const { layout, state } = this
    const flat = new Float64Array(layout.size)
    for (const { name, offset } of layout.params) if (grads[name]) flat.set(grads[name], offset)
    const { lr, betas } = optim
    const settings = { lr, beta1: betas[0], beta2: betas[1], eps: 1e-8, ...weightDecays(optim) }
    const trained = trainedWhere(layout, part)
    const where = { ...trained, chunk_segment: chunkSegments(layout) }
    const muon = muonOf(optim)
    const matrices = muon ? muonMatrices(layout).filter(({ offset }) => offset < where.count) : []
    const leftOut = (i: number) =>
      matrices.some(({ offset, rows, columns }) => i >= offset && i < offset + rows * columns)
    const clipped = { ...settings, max_norm: gradClip }
    const step = adamwRef(state, flat, clipped, { ...where, leftOut })
    for (const matrix of matrices) {
      const factor = trained.lr_factors?.[matrix.segment] ?? 1
      if (muon && factor > 0 && step.clip_coef > 0)
        this.#stepMatrix(matrix, flat, { ...optim, lr: lr * factor }, muon, step.clip_coef)
    }
    return step.grad_norm
  }

  #stepMatrix(
    { offset, rows, columns }: MuonMatrix,
    gradients: Float64Array,
    { lr, weight_decay }: Optim,
    muon: Muon,
    clipCoef: number,
  ): void {
    const cut = (flat: Float64Array) => flat.subarray(offset, offset + rows * columns)
    const lr_ratio = muonLrRatio(muon.adjust_lr_fn, rows, columns)
    muonRef(
      { weights: cut(this.state.weights), m: cut(this.state.m) },
      cut(gradients).map((g) => g * clipCoef),
      { rows, columns },
      { ...muon, lr, weight_decay, lr_ratio },
    )
  }
}

export type Rows = ReturnType<typeof rowsOf>

/** Rows [first, first + count) of a batch as the references take them. */
export function rowsOf(batch: RolloutBatch, phase: RefPhase, first: number, count: number) {
  const { prompt_length: P, response_length: R } = batch
  const cut = <T extends Uint32Array | Float32Array>(x: T, columns: number) =>
    x.subarray(first * columns, (first + count) * columns) as T
  return {
    rows: count,
    width: P + R,
    input_ids: cut(batch.input_ids, P + R),
    attention_mask: cut(batch.attention_mask, P + R),
    position_ids: cut(batch.position_ids, P + R),
    response_ids: cut(batch.response_ids, R),
    response_mask: cut(batch.response_mask, R),
    first_column: P - 1,
    response_length: R,
    temperature: phase.rollout.temperature,
    readout: refReadout(phase.target_readout, phase.target_layer, phase.translators),
    translators: phase.translators,
  }
}

export const mean = (x: readonly number[]) => x.reduce((a, b) => a + b, 0) / x.length
