// Finds the translators of tuned and Jacobian lenses in float64.
import { type AdamwState, adamwRef } from '../../kernels/optimizer/optimizer.ref.ts'
import type { ModelConfig } from '../layout/config.ts'
import { backwardBlocksRef } from '../transformer/backward.ref.ts'
import type { RefArrays, RefBatch } from '../transformer/operations.ref.ts'
import type { RefCache } from '../transformer/transformer.ref.ts'
import type { RefTranslator } from '../transformer/translate.ref.ts'
import { divergencesRef, readingBackwardRef, readPolicyRef } from './readings.ref.ts'

/** The mean over real columns of KL(final ‖ lens) of one layer, and its gradient by the
 * translator. */
export function tunedLossRef(
  config: ModelConfig,
  params: RefArrays,
  batch: RefBatch,
  states: Float64Array,
  finalLogP: Float64Array,
  translator: Required<RefTranslator>,
): { kl: number; d_translator: Required<RefTranslator> } {
  const { vocab_size: V } = config
  const M = batch.rows * batch.width
  const real = Array.from({ length: M }, (_, m) => Number(Boolean(batch.attention_mask[m])))
  const tokens = real.reduce((a, b) => a + b, 0)
  const logQ = readPolicyRef(config, params, states, translator)
  const kl = divergencesRef(batch, finalLogP, logQ).reduce((a, b) => a + b, 0) / tokens
  const d_logits = logQ.map((lq, i) =>
    real[Math.floor(i / V)] ? (Math.exp(lq) - Math.exp(finalLogP[i])) / tokens : 0,
  )
  const { d_translator } = readingBackwardRef(config, params, {}, states, translator, d_logits)
  return { kl, d_translator: d_translator as Required<RefTranslator> }
}

/** torch.optim.SGD without or with Nesterov's momentum, or AdamW whose decay pulls the matrix to
 * the identity. */
export type LensOptimizer =
  | { readonly name: 'sgd'; readonly lr: number; readonly momentum: number }
  | {
      readonly name: 'adamw'
      readonly lr: number
      readonly betas: readonly [number, number]
      readonly eps: number
      readonly weight_decay: number
    }

/** Fits one layer's translator from the identity by `steps` full-batch steps. kl[i] is before step
 * i + 1, the last after all. Belrose et al. 2023, arXiv 2303.08112; AdamW's decay acts on matrix −
 * identity and on the bias, as in their library. */
export function tunedFitRef(
  loss: (translator: Required<RefTranslator>) => ReturnType<typeof tunedLossRef>,
  hiddenSize: number,
  optimizer: LensOptimizer,
  steps: number,
): { kl: number[]; translator: Required<RefTranslator> } {
  const C = hiddenSize
  const state = adamwState(C * C + C)
  const velocity = new Float64Array(C * C + C)
  const translator = () => ({
    matrix: state.weights.subarray(0, C * C).map((w, i) => w + (i % (C + 1) === 0 ? 1 : 0)),
    bias: state.weights.slice(C * C),
  })
  const kl: number[] = []
  for (let step = 0; step < steps; step++) {
    const { kl: before, d_translator } = loss(translator())
    kl.push(before)
    const gradient = Float64Array.from([...d_translator.matrix, ...d_translator.bias])
    if (optimizer.name === 'adamw') adamwStepRef(state, gradient, optimizer)
    else nesterovStep(state.weights, velocity, gradient, optimizer)
  }
  kl.push(loss(translator()).kl)
  return { kl, translator: translator() }
}

/** With momentum 0 the plain step. */
function nesterovStep(
  weights: Float64Array,
  velocity: Float64Array,
  gradient: Float64Array,
  { lr, momentum }: { readonly lr: number; readonly momentum: number },
): void {
  gradient.forEach((g, i) => {
    velocity[i] = momentum * velocity[i] + g
    weights[i] -= lr * (g + momentum * velocity[i])
  })
}

/** Of `size` numbers that begin at zero. */
export const adamwState = (size: number): AdamwState => ({
  weights: new Float64Array(size),
  m: new Float64Array(size),
  v: new Float64Array(size),
  steps: [0],
})

/** One step of AdamW without clipping. */
export function adamwStepRef(
  state: AdamwState,
  gradient: Float64Array,
  {
    lr,
    betas,
    eps,
    weight_decay,
  }: { lr: number; betas: readonly [number, number]; eps: number; weight_decay: number },
): void {
  const [beta1, beta2] = betas
  const settings = { lr, beta1, beta2, eps, weight_decay, max_norm: Number.POSITIVE_INFINITY }
  const chunk_segment = new Uint32Array(Math.ceil(gradient.length / 64))
  const where = { count: gradient.length, chunk_segment, active_segments: 1 }
  adamwRef(state, gradient, settings, where)
}

/** Which positions of which contexts a Jacobian is averaged over. */
export interface JacobianContexts {
  /** Rows of the batch; default all. */
  readonly rows?: readonly number[]
  /** Leading real tokens of a context that are left out, as sources and as targets. */
  readonly skip_first: number
  /** Of a token's own last state alone, in place of those of all later tokens. */
  readonly samePosition?: boolean
}

/** Tokens of row b that count: real, at least skip_first from the first, and not the last. */
export function jacobianPositions(batch: RefBatch, b: number, skip_first: number): number[] {
  const { width, attention_mask } = batch
  const real = Array.from({ length: width }, (_, t) => b * width + t).filter(
    (m) => attention_mask[m],
  )
  return real.slice(skip_first, -1)
}

/** J_l [C, C], out by in, of layers 0 … L − 1: the mean over contexts of 1/|V| Σ_{t ∈ V} Σ_{t' ∈ V,
 * t' ≥ t} ∂h^L_{t'} / ∂h^l_t, before the final norm. Contexts without such positions are left out.
 * Gurnee et al. 2026, transformer-circuits.pub/2026/workspace. */
export function jacobiansRef(
  config: ModelConfig,
  params: RefArrays,
  cache: RefCache,
  { rows, skip_first, samePosition = false }: JacobianContexts,
): Float64Array[] {
  const { hidden_size: C, num_hidden_layers: L } = config
  const { batch } = cache
  const contexts = (rows ?? Array.from({ length: batch.rows }, (_, b) => b))
    .map((b) => jacobianPositions(batch, b, skip_first))
    .filter((positions) => positions.length > 0)
  const jacobians = Array.from({ length: L }, () => new Float64Array(C * C))
  for (let out = 0; out < C; out++) {
    const dTop = new Float64Array(batch.rows * batch.width * C)
    for (const m of contexts.flat()) dTop[m * C + out] = 1
    const onHidden = (l: number, d_hidden: Float64Array) => {
      if (l === L) return
      for (const positions of contexts)
        for (const m of positions)
          for (let c = 0; c < C; c++)
            jacobians[l][out * C + c] += d_hidden[m * C + c] / positions.length / contexts.length
    }
    const options = { onHidden, staysInPlace: samePosition }
    backwardBlocksRef(config, params, cache, L, dTop, {}, options)
  }
  return jacobians
}
