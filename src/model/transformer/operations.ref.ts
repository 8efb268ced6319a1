// Computes the parts of the float64 transformer, each with its backward. A backward adds the
// gradient of its weight to `grads` and returns the gradient of its input.
import type { ModelConfig } from '../layout/config.ts'

/** Arrays by Hugging Face parameter name; matrices are [out, in], row-major. */
export type RefArrays = Record<string, Float64Array>

/** Token rows; all three arrays are [rows, width]. */
export interface RefBatch {
  readonly input_ids: ArrayLike<number>
  readonly attention_mask: ArrayLike<number>
  readonly position_ids: ArrayLike<number>
  readonly rows: number
  readonly width: number
}

/** What attention read and its probabilities [B, H, T, T], for its backward. */
interface Attended {
  readonly qRotated: Float64Array
  readonly kRotated: Float64Array
  readonly v: Float64Array
  readonly attnProbs: Float64Array
}

/** context[b, t, h] = Σ_s softmax_s(q[b, t, h] · k[b, s, h / (H/K)] / √D) v[b, s, h / (H/K)], over
 * unmasked s ≤ t. */
export function attend(
  config: ModelConfig,
  batch: RefBatch,
  q: Float64Array,
  k: Float64Array,
  v: Float64Array,
): { attnProbs: Float64Array; context: Float64Array } {
  const { num_attention_heads: H, head_dim: D } = config
  const attnProbs = new Float64Array(batch.rows * H * batch.width ** 2)
  const context = new Float64Array(q.length)
  eachQuery(config, batch, (query, keys, probsAt) => {
    const scores = keys.map(({ key }) => dot(q, query, k, key, D) / Math.sqrt(D))
    const logP = logSoftmax(Float64Array.from(scores))
    keys.forEach(({ s, key }, j) => {
      const p = Math.exp(logP[j])
      attnProbs[probsAt + s] = p
      for (let d = 0; d < D; d++) context[query + d] += p * v[key + d]
    })
  })
  return { attnProbs, context }
}

/** Backward of `attend`; `staysInPlace` leaves out what reaches a token through keys and values
 * that others read. */
export function attendBackward(
  config: ModelConfig,
  batch: RefBatch,
  { qRotated: q, kRotated: k, v, attnProbs }: Attended,
  d_context: Float64Array,
  staysInPlace = false,
): { d_q_rotated: Float64Array; d_k_rotated: Float64Array; d_v: Float64Array } {
  const { head_dim: D } = config
  const [d_q_rotated, d_k_rotated, d_v] = [q, k, v].map((x) => new Float64Array(x.length))
  eachQuery(config, batch, (query, keys, probsAt) => {
    const dP = keys.map(({ key }) => dot(d_context, query, v, key, D))
    const mean = keys.reduce((sum, { s }, j) => sum + attnProbs[probsAt + s] * dP[j], 0)
    keys.forEach(({ s, key }, j) => {
      const p = attnProbs[probsAt + s]
      const d_score = (p * (dP[j] - mean)) / Math.sqrt(D)
      for (let d = 0; d < D; d++) d_q_rotated[query + d] += d_score * k[key + d]
      // The last key that a query sees is its own token's.
      if (staysInPlace && j < keys.length - 1) return
      for (let d = 0; d < D; d++) {
        d_v[key + d] += p * d_context[query + d]
        d_k_rotated[key + d] += d_score * q[query + d]
      }
    })
  })
  return { d_q_rotated, d_k_rotated, d_v }
}

/** Calls `visit` for each unmasked query of each head: where it starts, the keys it sees, where its
 * probabilities start. */
function eachQuery(
  { num_attention_heads: H, num_key_value_heads: K, head_dim: D }: ModelConfig,
  { rows, width, attention_mask }: RefBatch,
  visit: (query: number, keys: { s: number; key: number }[], probsAt: number) => void,
): void {
  for (let b = 0; b < rows; b++)
    for (let t = 0; t < width; t++) {
      if (!attention_mask[b * width + t]) continue
      const seen = Array.from({ length: t + 1 }, (_, s) => s).filter(
        (s) => attention_mask[b * width + s],
      )
      for (let h = 0; h < H; h++) {
        const kvHead = Math.floor(h / (H / K))
        const keys = seen.map((s) => ({ s, key: ((b * width + s) * K + kvHead) * D }))
        visit(((b * width + t) * H + h) * D, keys, ((b * H + h) * width + t) * width)
      }
    }
}

/** Rotary embedding of every head, Hugging Face's rotate_half: element i turns with i + D/2.
 * direction −1 undoes it. */
export function rotate(
  x: Float64Array,
  { rows, width, position_ids }: RefBatch,
  invFreq: ArrayLike<number>,
  direction: 1 | -1,
): Float64Array {
  const half = invFreq.length
  const perToken = x.length / (rows * width)
  const y = new Float64Array(x.length)
  for (let start = 0; start < x.length; start += 2 * half)
    for (let i = start; i < start + half; i++) {
      const angle = direction * position_ids[Math.floor(start / perToken)] * invFreq[i - start]
      y[i] = x[i] * Math.cos(angle) - x[i + half] * Math.sin(angle)
      y[i + half] = x[i + half] * Math.cos(angle) + x[i] * Math.sin(angle)
    }
  return y
}

/** y = x · weight / √(mean(x²) + eps), for each run of weight.length elements. Zhang & Sennrich
 * 2019, arXiv 1910.07467. */
export function rmsNorm(x: Float64Array, weight: Float64Array, eps: number): Float64Array {
  const n = weight.length
  const y = new Float64Array(x.length)
  for (let row = 0; row < x.length; row += n) {
    const invRms = 1 / Math.sqrt(dot(x, row, x, row, n) / n + eps)
    for (let c = 0; c < n; c++) y[row + c] = x[row + c] * invRms * weight[c]
  }
  return y
}

export function rmsNormBackward(
  params: RefArrays,
  grads: RefArrays,
  name: string,
  eps: number,
  x: Float64Array,
  d_y: Float64Array,
): Float64Array {
  const weight = params[name]
  const d_weight = gradOf(params, grads, name)
  const n = weight.length
  const d_x = new Float64Array(x.length)
  for (let row = 0; row < x.length; row += n) {
    const invRms = 1 / Math.sqrt(dot(x, row, x, row, n) / n + eps)
    let projection = 0
    for (let c = 0; c < n; c++) projection += weight[c] * d_y[row + c] * x[row + c]
    for (let c = 0; c < n; c++) {
      d_weight[c] += d_y[row + c] * x[row + c] * invRms
      d_x[row + c] =
        invRms * (weight[c] * d_y[row + c] - (x[row + c] * invRms ** 2 * projection) / n)
    }
  }
  return d_x
}

/** y [n, out] = x [n, in] · weight [out, in]^T + bias [out]. */
export function linear(
  x: Float64Array,
  sizeIn: number,
  weight: Float64Array,
  bias?: Float64Array,
): Float64Array {
  const rows = x.length / sizeIn
  const sizeOut = weight.length / sizeIn
  const y = new Float64Array(rows * sizeOut)
  for (let n = 0; n < rows; n++)
    for (let o = 0; o < sizeOut; o++)
      y[n * sizeOut + o] = dot(x, n * sizeIn, weight, o * sizeIn, sizeIn) + (bias?.[o] ?? 0)
  return y
}

/** Backward of `linear` with the parameters `name`.weight and, where there is one, `name`.bias. */
export function linearBackward(
  params: RefArrays,
  grads: RefArrays,
  name: string,
  x: Float64Array,
  sizeIn: number,
  d_y: Float64Array,
): Float64Array {
  const weight = params[`${name}.weight`]
  const d_weight = gradOf(params, grads, `${name}.weight`)
  const d_bias = params[`${name}.bias`] && gradOf(params, grads, `${name}.bias`)
  const sizeOut = weight.length / sizeIn
  const d_x = new Float64Array(x.length)
  for (let i = 0; i < d_y.length; i++) {
    const row = Math.floor(i / sizeOut) * sizeIn
    const o = i % sizeOut
    if (d_bias) d_bias[o] += d_y[i]
    for (let c = 0; c < sizeIn; c++) {
      d_weight[o * sizeIn + c] += d_y[i] * x[row + c]
      d_x[row + c] += d_y[i] * weight[o * sizeIn + c]
    }
  }
  return d_x
}

/** The gradient of a parameter, zero when it is first asked for. */
export function gradOf(params: RefArrays, grads: RefArrays, name: string): Float64Array {
  grads[name] ??= new Float64Array(params[name].length)
  return grads[name]
}

/** z − log Σ exp z. */
export function logSoftmax(z: Float64Array): Float64Array {
  const zMax = Math.max(...z)
  const lse = zMax + Math.log(z.reduce((sum, x) => sum + Math.exp(x - zMax), 0))
  return z.map((x) => x - lse)
}

export const sigmoid = (x: number) => 1 / (1 + Math.exp(-x))

export const add = (first: Float64Array, ...others: readonly Float64Array[]) =>
  first.map((x, i) => others.reduce((sum, other) => sum + other[i], x))

/** Σ a[i + c] · b[j + c], c = 0 … n − 1. */
function dot(a: Float64Array, i: number, b: Float64Array, j: number, n: number): number {
  let sum = 0
  for (let c = 0; c < n; c++) sum += a[i + c] * b[j + c]
  return sum
}
