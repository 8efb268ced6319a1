// Finds what wrote a token, by direct logit attribution, and what every head looked at. One pass on
// the GPU gives the states; the rest is products of small vectors, in float64.

import type { Allocator } from '../../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../../kernels/device/gpu.ts'
import { captureRoom, captureStates, type Place } from '../../../model/internals/capture.ts'
import type { ModelShape } from '../../../model/layout/config.ts'
import type { ParamLayout } from '../../../model/layout/params.ts'
import { createModel, uploadModel } from '../../../model/transformer/model.ts'
import { createWorkspace } from '../../../model/transformer/workspace.ts'

/** Bytes of the attention maps of one text at most. */
const MAP_BYTES = 64e6

/** How a text of n tokens was written. */
export interface Attributed {
  readonly ids: readonly number[]
  /** By token from the second on, [n − 1] each: what adds up to its logit, less the mean logit of
   * the vocabulary. embed + Σ attention + Σ feed_forward = total; a layer's heads add up to its
   * attention. */
  readonly total: readonly number[]
  readonly embed: readonly number[]
  /** [L] */
  readonly attention: readonly (readonly number[])[]
  readonly feed_forward: readonly (readonly number[])[]
  /** [L][H] */
  readonly head: readonly (readonly (readonly number[])[])[]
  /** [L][H]: what each query looks at, [n, n], rows are queries. */
  readonly looksAt: readonly (readonly Float32Array[])[]
}

/** Refuses a text whose attention maps are too large: throws RangeError with their size. */
export function requireMaps(
  { num_hidden_layers: L, num_attention_heads: H }: ModelShape,
  n: number,
): void {
  const bytes = 4 * L * H * n ** 2
  if (bytes > MAP_BYTES)
    throw new RangeError(
      `The attention maps of ${L * H} heads over ${n} tokens take ${Math.round(bytes / 1e6)} MB; expected at most ${MAP_BYTES / 1e6} MB. Take a shorter text.`,
    )
}

/** Room for one pass over a text of n tokens. */
const attributionRoom = (alloc: Allocator, { shape }: ParamLayout, n: number) =>
  createWorkspace(alloc, shape, { rows: 1, width: n, response_length: 0, trains: false })

const placesOf = ({ num_hidden_layers: L }: ModelShape): Place[] => [
  { where: 'residual', layer: 0 },
  { where: 'residual', layer: L },
  ...Array.from({ length: L }, (_, l) => l + 1).flatMap((layer): Place[] =>
    (['attention', 'feed_forward', 'head', 'qkv'] as const).map((where) => ({ where, layer })),
  ),
]

/** What taking a text of n tokens apart takes, on a plan. Throws RangeError as requireMaps does. */
export function planAttribution(alloc: Allocator, layout: ParamLayout, n: number): void {
  const { shape } = layout
  requireMaps(shape, n)
  createModel(alloc, layout)
  captureRoom(alloc, shape, attributionRoom(alloc, layout, n), placesOf(shape))
}

const dot = (
  a: ArrayLike<number>,
  i: number,
  b: ArrayLike<number>,
  j: number,
  n: number,
): number => {
  let sum = 0
  for (let c = 0; c < n; c++) sum += a[i + c] * b[j + c]
  return sum
}

/** For every token but the last, the direction [C] in which the logit of the next one grows over
 * the mean of all, with the final norm's scale frozen: (U_y − mean U) · γ / √(mean(h²) + ε). */
function directionsOf(
  { slices, shape }: ParamLayout,
  weights: Float32Array,
  last: Float32Array,
  ids: readonly number[],
): Float64Array[] {
  const { hidden_size: C, vocab_size: V, rms_norm_eps } = shape
  const { offset } = slices.lm_head
  const centre = new Float64Array(C)
  for (let v = 0; v < V; v++)
    for (let c = 0; c < C; c++) centre[c] += weights[offset + v * C + c] / V
  return ids.slice(1).map((id, s) => {
    const scale = Math.sqrt(dot(last, s * C, last, s * C, C) / C + rms_norm_eps)
    return centre.map(
      (mean, c) =>
        ((weights[offset + id * C + c] - mean) * weights[slices.norm.offset + c]) / scale,
    )
  })
}

/** What head h of a block adds along each direction: z · (W_O^hᵀ u). `o_proj` [C, H · D]. */
function headShares(
  directions: readonly Float64Array[],
  z: Float32Array,
  oProj: Float32Array,
  { hidden_size: C, head_dim: D, attentionSize, num_attention_heads: H }: ModelShape,
): number[][] {
  const byHead = Array.from({ length: H }, () => new Array<number>(directions.length))
  for (const [s, direction] of directions.entries()) {
    const pulled = new Float64Array(attentionSize)
    for (let c = 0; c < C; c++)
      for (let k = 0; k < attentionSize; k++)
        pulled[k] += direction[c] * oProj[c * attentionSize + k]
    for (let h = 0; h < H; h++) byHead[h][s] = dot(pulled, h * D, z, s * attentionSize + h * D, D)
  }
  return byHead
}

/** Attention probabilities of head h, [n, n]. `qkv` [n, (H + 2K) · D], rotated. */
function looksOf(qkv: Float32Array, n: number, h: number, shape: ModelShape): Float32Array {
  const { head_dim: D, num_attention_heads: H, num_key_value_heads: K, qkvSize } = shape
  const key = (H + Math.floor(h / (H / K))) * D
  const probs = new Float32Array(n * n)
  for (let i = 0; i < n; i++) {
    const scores = Array.from(
      { length: i + 1 },
      (_, j) => dot(qkv, i * qkvSize + h * D, qkv, j * qkvSize + key, D) / Math.sqrt(D),
    )
    const most = Math.max(...scores)
    const powers = scores.map((score) => Math.exp(score - most))
    const sum = powers.reduce((a, b) => a + b, 0)
    powers.forEach((power, j) => {
      probs[i * n + j] = power / sum
    })
  }
  return probs
}

/** Reads a text once and splits the logit of each of its tokens. Throws RangeError for fewer than
 * two tokens, and where its maps are too large. */
export async function attribution(
  gpu: Gpu,
  { layout, weights }: { readonly layout: ParamLayout; readonly weights: Float32Array },
  ids: readonly number[],
): Promise<Attributed> {
  const { shape, slices } = layout
  const { num_hidden_layers: L, num_attention_heads: H, hidden_size: C, attentionSize } = shape
  const n = ids.length
  if (n < 2) throw new RangeError(`Expected a text of at least 2 tokens, got ${n}.`)
  requireMaps(shape, n)
  const ws = attributionRoom(gpu, layout, n)
  const model = createModel(gpu, layout)
  uploadModel(gpu, model, weights)
  const rows = {
    input_ids: Uint32Array.from(ids),
    attention_mask: new Uint32Array(n).fill(1),
    position_ids: Uint32Array.from(ids.keys()),
    response_ids: new Uint32Array(),
    response_mask: new Float32Array(),
  }
  const places = placesOf(shape)
  const states = await captureStates(gpu, model, ws, rows, places)
  const of = (where: Place['where'], layer: number) =>
    states[places.findIndex((place) => place.where === where && place.layer === layer)]
  const last = of('residual', L)
  const directions = directionsOf(layout, weights, last, ids)
  const along = (part: Float32Array) => directions.map((u, s) => dot(u, 0, part, s * C, C))
  const layers = Array.from({ length: L }, (_, l) => l + 1)
  const oProj = ({ offset }: { readonly offset: number }) =>
    weights.subarray(offset, offset + C * attentionSize)
  return {
    ids,
    total: along(last),
    embed: along(of('residual', 0)),
    attention: layers.map((l) => along(of('attention', l))),
    feed_forward: layers.map((l) => along(of('feed_forward', l))),
    head: layers.map((l) =>
      headShares(directions, of('head', l), oProj(slices.layers[l - 1].o_proj), shape),
    ),
    looksAt: layers.map((l) =>
      Array.from({ length: H }, (_, h) => looksOf(of('qkv', l), n, h, shape)),
    ),
  }
}
