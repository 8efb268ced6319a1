// Declares the kernels of the exact divergences between two policies.
import { defineKernel, foldGrid } from '../device/base/kernel.ts'
import type { DType } from '../device/base/tensor.ts'
import head_tile from '../vocab_head/head_tile.wgsl?raw'
import type { HeadShape } from '../vocab_head/narrow.ts'
import { ofBfloat16 } from '../wgsl/bfloat16_weight.ts'
import weight_f32 from '../wgsl/weight_f32.wgsl?raw'
import reduce from '../wgsl/workgroup_reduce.wgsl?raw'
import tiled from './policy_kl.wgsl?raw'
import divergence from './policy_kl_divergence.wgsl?raw'
import finish from './policy_kl_finish.wgsl?raw'
import narrow from './policy_kl_narrow.wgsl?raw'
import pairs from './policy_kl_pairs.wgsl?raw'
import range from './policy_kl_range.wgsl?raw'

/** Tokens per workgroup: half of the tile's 16 narrow rows, since a token has two states. */
const TOKENS = 8

const tile = pairs + head_tile + weight_f32 + reduce
const perTile = ({ tokens }: { tokens: number }) => foldGrid(Math.ceil(tokens / TOKENS))

/** Of [tokens, C] twice and a weight [V, C]. */
const cost = (p: { tokens: number; hidden_size: number; vocab_size: number }) => ({
  flops: 4 * p.tokens * p.vocab_size * p.hidden_size,
  bytes: 4 * (2 * p.tokens * p.hidden_size + p.vocab_size * p.hidden_size + 3 * p.tokens),
})

/** The exact divergences of two policies that share an unembedding, token by token: with p =
 * softmax(hidden_p · weightᵀ) and q = softmax(hidden_q · weightᵀ), kl_pq = Σ_v p_v (log p_v - log
 * q_v) and kl_qp = Σ_v q_v (log q_v - log p_v).
 *
 * hidden_p, hidden_q [tokens, C], weight [V, C], mask [tokens] → kl_pq, kl_qp [tokens], nats; 0
 * where mask is 0. No [tokens, V] array exists. Never negative, and exactly 0 where the two states
 * are the same bits. Works from differences of logits, so a probability that underflows costs
 * nothing. A token's numbers are the same bits in any batch.
 *
 * Source: Kullback and Leibler 1951; running sums as in FlashAttention, arXiv 2205.14135. */
export const policy_kl = defineKernel({
  name: 'policy_kl',
  wgsl: tiled + divergence + tile,
  params: { tokens: 'u32', hidden_size: 'u32', vocab_size: 'u32' },
  bindings: {
    hidden_p: 'read',
    hidden_q: 'read',
    weight: 'read Weight',
    mask: 'read',
    kl_pq: 'read_write',
    kl_qp: 'read_write',
  },
  workgroups: perTile,
  cost,
})

/** policy_kl over one range of the vocabulary, for a head that lies in several: call it for every
 * range, `weight` [rows of the range, C] and first_id rising from 0, then policy_kl_finish. running
 * [tokens, 6] need not be cleared. */
export const policy_kl_range = defineKernel({
  name: 'policy_kl_range',
  wgsl: range + tile,
  params: { tokens: 'u32', hidden_size: 'u32', vocab_size: 'u32', first_id: 'u32' },
  bindings: {
    hidden_p: 'read',
    hidden_q: 'read',
    weight: 'read Weight',
    mask: 'read',
    running: 'read_write',
  },
  workgroups: perTile,
  cost,
})

/** mask, and running as policy_kl_range left it after the last range → kl_pq, kl_qp. */
export const policy_kl_finish = defineKernel({
  name: 'policy_kl_finish',
  wgsl: finish + divergence,
  params: { tokens: 'u32' },
  bindings: { mask: 'read', running: 'read', kl_pq: 'read_write', kl_qp: 'read_write' },
  workgroups: ({ tokens }) => foldGrid(Math.ceil(tokens / 64)),
  cost: ({ tokens }) => ({ flops: 8 * tokens, bytes: 4 * 9 * tokens }),
})

/** policy_kl with one invocation per token and no barriers: the same results, to rounding. */
export const policy_kl_narrow: typeof policy_kl = {
  ...policy_kl,
  name: 'policy_kl_narrow',
  wgsl: narrow + weight_f32,
  workgroups: ({ tokens }) => foldGrid(Math.ceil(tokens / 64)),
}

const MAX_NARROW_SIZE = 128

const float32 = { whole: policy_kl, range: policy_kl_range }
const bfloat16: typeof float32 = {
  whole: ofBfloat16(policy_kl),
  range: ofBfloat16(policy_kl_range),
}

/** The kernels for a head of one range and of several. One of one range is narrow where vocabulary
 * and hidden size are both at most 128; one of bfloat16 numbers, two to a word, has the bits of the
 * decoded head's. */
export function policyKl(
  { hidden_size, vocab_size, narrowKernels = true }: HeadShape,
  dtype: DType = 'f32',
): typeof float32 {
  if (dtype === 'bfloat16') return bfloat16
  const isNarrow = narrowKernels && Math.max(hidden_size, vocab_size) <= MAX_NARROW_SIZE
  return isNarrow ? { ...float32, whole: policy_kl_narrow } : float32
}

/** Instances for the checks that every kernel passes. */
export const variants = Object.values(bfloat16)
