// Computes clipping and AdamW in f64, with a step count per segment as torch has per parameter.
import { VECTOR_CHUNK } from './control.ts'

export interface AdamwSettings {
  readonly lr: number
  readonly beta1: number
  readonly beta2: number
  readonly eps: number
  readonly weight_decay: number
  /** Of chunks marked VECTOR_CHUNK; default weight_decay. */
  readonly vector_weight_decay?: number
  readonly max_norm: number
}

/** What one optimizer keeps; the step advances it in place. */
export interface AdamwState {
  readonly weights: Float64Array
  readonly m: Float64Array
  readonly v: Float64Array
  /** Steps taken, per segment. */
  readonly steps: number[]
}

/** One step of weights[0…count): clips by the global norm of gradients[0…count), counts a step for
 * the first `active_segments` segments, updates. Does nothing when the norm is not finite. Returns
 * norm and clip factor. `lr_factors` = factor of lr of each segment (default 1); one with 0 is
 * frozen: no part of the norm, no step, no change. */
export function adamwRef(
  state: AdamwState,
  gradients: ArrayLike<number>,
  settings: AdamwSettings,
  layout: {
    readonly count: number
    readonly chunk_segment: ArrayLike<number>
    readonly active_segments: number
    readonly lr_factors?: ArrayLike<number>
    /** Elements that another optimizer updates: they count in the norm alone. */
    readonly leftOut?: (i: number) => boolean
  },
): { grad_norm: number; clip_coef: number } {
  const { lr, beta1, beta2, eps, weight_decay, max_norm } = settings
  const { vector_weight_decay = weight_decay } = settings
  const factorOf = (segment: number) => layout.lr_factors?.[segment] ?? 1
  const isVector = (i: number) => layout.chunk_segment[Math.floor(i / 64)] >= VECTOR_CHUNK
  const segmentAt = (i: number) => layout.chunk_segment[Math.floor(i / 64)] % VECTOR_CHUNK
  let squares = 0
  for (let i = 0; i < layout.count; i++)
    if (factorOf(segmentAt(i)) > 0) squares += gradients[i] ** 2
  const grad_norm = Math.sqrt(squares)
  if (!Number.isFinite(grad_norm)) return { grad_norm, clip_coef: 0 }
  const clip_coef = Math.min(1, max_norm / (grad_norm + 1e-6))
  for (let s = 0; s < layout.active_segments; s++) if (factorOf(s) > 0) state.steps[s]++
  for (let i = 0; i < layout.count; i++) {
    const segment = segmentAt(i)
    if (factorOf(segment) === 0 || layout.leftOut?.(i)) continue
    const rate = lr * factorOf(segment)
    const t = state.steps[segment]
    const g = gradients[i] * clip_coef
    state.m[i] = beta1 * state.m[i] + (1 - beta1) * g
    state.v[i] = beta2 * state.v[i] + (1 - beta2) * g * g
    const denominator = Math.sqrt(state.v[i]) / Math.sqrt(1 - beta2 ** t) + eps
    const step = ((rate / (1 - beta1 ** t)) * state.m[i]) / denominator
    const decay = isVector(i) ? vector_weight_decay : weight_decay
    state.weights[i] = state.weights[i] * (1 - rate * decay) - step
  }
  return { grad_norm, clip_coef }
}
