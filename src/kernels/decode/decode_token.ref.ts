// Computes one decoded token of every row through all blocks, in f64: the reference that the shader
// is tested against. Rows see their own tokens alone, and all of them are live.
import { rmsNormForwardRef } from '../rms_norm/rms_norm.ref.ts'
import { qkNormRopeForwardRef } from '../rope/rope.ref.ts'
import { decodeLinearRef, decodeSwigluRef } from './decode.ref.ts'

type Numbers = ArrayLike<number>

/** What a block is made of: C hidden, F intermediate, H query heads, K key/value heads, D head
 * size. */
export interface BlockRef {
  /** [C] */
  readonly input_layernorm: Numbers
  /** [(H + 2K) · D, C] */
  readonly qkv_proj: Numbers
  /** [(H + 2K) · D]; absent = none. */
  readonly qkv_bias?: Numbers | undefined
  /** [2, D]; absent = heads are not normed. */
  readonly qk_norm?: Numbers | undefined
  /** [C, H · D] */
  readonly o_proj: Numbers
  readonly post_attention_layernorm: Numbers
  /** [2F, C] */
  readonly gate_up_proj: Numbers
  /** [C, F] */
  readonly down_proj: Numbers
}

export interface TokenShape {
  readonly hidden_size: number
  readonly intermediate_size: number
  readonly num_attention_heads: number
  readonly num_key_value_heads: number
  readonly head_dim: number
  readonly eps: number
}

/** The states after all blocks, [C], of a token whose state is `x` [C] and whose position is
 * `position`. `past` [L][earlier tokens] holds each block's earlier keys and values, [2 · K · D] as
 * the cache has them; the token's own are put behind them. */
export function decodeTokenRef(
  x: Numbers,
  blocks: readonly BlockRef[],
  shape: TokenShape,
  {
    position,
    inv_freq,
    past,
  }: {
    readonly position: number
    readonly inv_freq: Numbers
    readonly past: readonly Float64Array[][]
  },
): Float64Array {
  const { hidden_size: C, intermediate_size: F, head_dim: D, eps } = shape
  const { num_attention_heads: H, num_key_value_heads: K } = shape
  const one = (n: number, k: number) => ({ m: 1, n, k })
  const norm = (of: Numbers, weight: Numbers) =>
    rmsNormForwardRef(of, weight, { rows: 1, cols: C, eps }).y
  let state: Numbers = x
  blocks.forEach((w, l) => {
    const size = one((H + 2 * K) * D, C)
    const qkv = decodeLinearRef(norm(state, w.input_layernorm), w.qkv_proj, size, w.qkv_bias)
    const heads = { num_attention_heads: H, num_key_value_heads: K, head_dim: D, eps, tokens: 1 }
    const turned = qkNormRopeForwardRef(
      { qkv, norm_weight: w.qk_norm ?? [], position_ids: [position], inv_freq },
      { ...heads, has_qk_norm: w.qk_norm ? 1 : 0 },
    )
    past[l].push(turned.slice(H * D))
    const context = attention(turned, past[l], shape)
    const middle = decodeLinearRef(context, w.o_proj, one(C, H * D), state)
    const activated = decodeSwigluRef(
      norm(middle, w.post_attention_layernorm),
      w.gate_up_proj,
      one(F, C),
    )
    state = decodeLinearRef(activated, w.down_proj, one(C, F), middle)
  })
  return Float64Array.from(state)
}

/** [H · D]: softmax of the scaled products of queries and keys, times the values. */
function attention(
  qkv: Float64Array,
  past: readonly Float64Array[],
  { num_attention_heads: H, num_key_value_heads: K, head_dim: D }: TokenShape,
): Float64Array {
  const out = new Float64Array(H * D)
  for (let head = 0; head < H; head++) {
    const at = Math.floor(head / (H / K)) * D
    const scores = past.map((token) => {
      let sum = 0
      for (let d = 0; d < D; d++) sum += qkv[head * D + d] * token[at + d]
      return sum / Math.sqrt(D)
    })
    const top = Math.max(...scores)
    const weights = scores.map((score) => Math.exp(score - top))
    const total = weights.reduce((a, b) => a + b)
    weights.forEach((weight, t) => {
      for (let d = 0; d < D; d++) out[head * D + d] += (weight / total) * past[t][K * D + at + d]
    })
  }
  return out
}
