// Declares the kernel that takes one token of every row through a whole small model.

import { stepCost } from '../attention/cache_cost.ts'
import cache_token from '../attention/cache_token.wgsl?raw'
import { defineKernel, foldGrid } from '../device/base/kernel.ts'
import rotation from '../rope/rope_rotation.wgsl?raw'
import sigmoid from '../swiglu/swiglu_sigmoid.wgsl?raw'
import token from './decode_token.wgsl?raw'

/** Rows of a workgroup, and vectors of four that its memory holds for them. */
const ROWS = 4
const POOL_VECTORS = 1000

/** Sizes of a model: C hidden, F intermediate, H query heads, K key/value heads, D head size. */
interface Sizes {
  readonly hidden_size: number
  readonly intermediate_size: number
  readonly num_attention_heads: number
  readonly num_key_value_heads: number
  readonly head_dim: number
}

/** Vectors of four that a row of such a model takes in workgroup memory: its states, what a product
 * reads, and what it makes. Undefined where a workgroup does not hold ROWS of them, or a size is no
 * multiple of four or a head none of eight. */
export function rowVectors(sizes: Sizes): number | undefined {
  const { hidden_size: C, intermediate_size: F, head_dim: D } = sizes
  const { num_attention_heads: H, num_key_value_heads: K } = sizes
  if (C % 4 !== 0 || F % 4 !== 0 || D % 8 !== 0) return undefined
  const vectors = (C + Math.max(H * D, C) + Math.max((H + 2 * K) * D, F)) / 4
  return ROWS * vectors <= POOL_VECTORS ? vectors : undefined
}

/** One token of every row, next_ids [B], through all blocks of a model: → out [B, C], the states
 * after the last block, before the final norm; keys and values of each block into its cache. What
 * embedding_forward, rms_norm_forward, decode_linear, attention_step and decode_swiglu do one
 * after another, in one dispatch, to rounding. Rows that have ended are left out by fours.
 *
 * `weights` are all of the model's, f32; `embedding` and `first_block` say where the embedding [V,
 * C] and block 1 begin in them, `block_stride` how far the next block is, and the others where
 * each of a block's tensors begins in it, all in vectors of four. `cache` is [L, tokens, 2·K·D]
 * with `cache_stride` vectors for each block, laid out as attention_step's. `row_vectors`:
 * rowVectors(). */
export const decode_token = defineKernel({
  name: 'decode_token',
  wgsl: token + cache_token + rotation + sigmoid,
  params: {
    rows: 'u32',
    n: 'u32',
    prompt_length: 'u32',
    response_columns: 'u32',
    width: 'u32',
    column: 'u32',
    num_attention_heads: 'u32',
    num_key_value_heads: 'u32',
    head_dim: 'u32',
    scale: 'f32',
    has_qk_norm: 'u32',
    eps: 'f32',
    hidden_size: 'u32',
    intermediate_size: 'u32',
    layers: 'u32',
    has_bias: 'u32',
    row_vectors: 'u32',
    embedding: 'u32',
    first_block: 'u32',
    block_stride: 'u32',
    cache_stride: 'u32',
    input_layernorm: 'u32',
    qkv_proj: 'u32',
    qkv_bias: 'u32',
    qk_norm: 'u32',
    o_proj: 'u32',
    post_attention_layernorm: 'u32',
    gate_up_proj: 'u32',
    down_proj: 'u32',
  },
  bindings: {
    weights: 'read vec4f',
    cache: 'read_write vec4f',
    next_ids: 'read u32',
    ended: 'read u32',
    position_ids: 'read u32',
    inv_freq: 'read',
    attention_mask: 'read u32',
    out: 'read_write vec4f',
  },
  workgroups: ({ rows }) => foldGrid(Math.ceil(rows / ROWS)),
  cost: (p) => {
    const { rows, layers, hidden_size: C, intermediate_size: F, head_dim: D } = p
    const [H, K] = [p.num_attention_heads, p.num_key_value_heads]
    const weights = (H + 2 * K) * D * C + H * D * C + 3 * F * C
    const step = stepCost(4)(p)
    return {
      flops: layers * (2 * rows * weights + 8 * rows * C + 5 * rows * F + step.flops),
      bytes: layers * (4 * weights + step.bytes) + 8 * rows * C,
    }
  },
})
