// Declares the kernels that norm and rotate the heads of queries and keys.
import { defineKernel, foldGrid } from '../device/base/kernel.ts'
import backward from './qk_norm_rope_backward.wgsl?raw'
import forward from './qk_norm_rope_forward.wgsl?raw'
import head from './rope_head.wgsl?raw'
import rotation from './rope_rotation.wgsl?raw'

interface Heads {
  readonly num_attention_heads: number
  readonly num_key_value_heads: number
  readonly head_dim: number
}

/** Values of a row of qkv, and those of them that are turned (and normed). */
const rowSize = ({ num_attention_heads: H, num_key_value_heads: K, head_dim: D }: Heads) => ({
  all: (H + 2 * K) * D,
  turned: (H + K) * D,
})

/** Norms the q and k heads (Qwen3's per-head RMSNorm, when `has_qk_norm` is 1) and turns them by
 * their position; copies v.
 *
 * A row of `qkv` and `out` is H q heads, K k heads, K v heads of D values; `norm_weight` [2, D] is
 * q_norm.weight, then k_norm.weight (bound, never read, when has_qk_norm is 0); `position_ids`
 * [tokens] u32; `inv_freq` [D/2] in radians per token. Pairs are (i, i + D/2): y[i] = x[i] cos −
 * x[i + D/2] sin, y[i + D/2] = x[i + D/2] cos + x[i] sin. The angle position · inv_freq is a f32
 * product, as in Hugging Face.
 *
 * Source: Su et al. 2021, arXiv 2104.09864, eq. 34, paired as by transformers' rotate_half. */
export const qk_norm_rope_forward = defineKernel({
  name: 'qk_norm_rope_forward',
  wgsl: forward + head + rotation,
  params: {
    tokens: 'u32',
    num_attention_heads: 'u32',
    num_key_value_heads: 'u32',
    head_dim: 'u32',
    has_qk_norm: 'u32',
    eps: 'f32',
  },
  bindings: {
    qkv: 'read',
    norm_weight: 'read',
    position_ids: 'read u32',
    inv_freq: 'read',
    out: 'read_write',
  },
  workgroups: ({ tokens, num_attention_heads, num_key_value_heads }) =>
    foldGrid(Math.ceil((tokens * (num_attention_heads + 2 * num_key_value_heads)) / 64)),
  cost: (p) => {
    const { all, turned } = rowSize(p)
    return {
      flops: p.tokens * turned * (3 + 4 * p.has_qk_norm),
      bytes: 4 * p.tokens * (2 * all + 1),
    }
  },
})

/** The gradient of qk_norm_rope_forward: `d_out` → `d_qkv`, both shaped like qkv and d_qkv
 * overwritten, and `d_norm_partials` [tokens, 2, D], each token's sum over its q heads and over its
 * k heads of the gradient of norm_weight (zeros when has_qk_norm is 0). reduce_rows adds the tokens
 * up. */
export const qk_norm_rope_backward = defineKernel({
  name: 'qk_norm_rope_backward',
  wgsl: backward + head + rotation,
  params: qk_norm_rope_forward.params,
  bindings: {
    qkv: 'read',
    norm_weight: 'read',
    position_ids: 'read u32',
    inv_freq: 'read',
    d_out: 'read',
    d_qkv: 'read_write',
    d_norm_partials: 'read_write',
  },
  workgroups: ({ tokens }) => foldGrid(Math.ceil((tokens * 3) / 64)),
  cost: (p) => {
    const { all, turned } = rowSize(p)
    return {
      flops: p.tokens * turned * (3 + 9 * p.has_qk_norm),
      bytes: 4 * p.tokens * (2 * all + p.has_qk_norm * turned + 2 * p.head_dim + 1),
    }
  },
})
