import { defineKernel, foldGrid } from '../device/kernel.ts'
import head_tile from '../vocab_head/head_tile.wgsl?raw'
import weight_f32 from '../wgsl/weight_f32.wgsl?raw'
import reduce from '../wgsl/workgroup_reduce.wgsl?raw'
import tiled from './policy_kl.wgsl?raw'
import shared from './policy_kl_interface.wgsl?raw'
import narrow from './policy_kl_narrow.wgsl?raw'

/** Tokens per workgroup: half of the tile's 16 narrow rows, since a token has two states. */
const TOKENS = 8

/**
 * The exact divergences of two policies that share an unembedding, token by token: with p = softmax(hidden_p · weightᵀ)
 * and q = softmax(hidden_q · weightᵀ), kl_pq = Σ_v p_v (log p_v - log q_v) and kl_qp = Σ_v q_v (log q_v - log p_v).
 *
 * hidden_p, hidden_q [tokens, C], weight [V, C], mask [tokens] → kl_pq, kl_qp [tokens], nats; 0 where mask is 0.
 * No [tokens, V] array exists. Never negative, and exactly 0 where the two states are the same bits. Works from
 * differences of logits, so a probability that underflows costs nothing. A token's numbers are the same bits in any batch.
 *
 * Source: Kullback and Leibler 1951; running sums as in FlashAttention, arXiv 2205.14135.
 */
export const policy_kl = defineKernel({
  name: 'policy_kl',
  wgsl: shared + tiled + head_tile + weight_f32 + reduce,
  params: { tokens: 'u32', hidden_size: 'u32', vocab_size: 'u32' },
  bindings: {
    hidden_p: 'read',
    hidden_q: 'read',
    weight: 'read',
    mask: 'read',
    kl_pq: 'read_write',
    kl_qp: 'read_write',
  },
  workgroups: ({ tokens }) => foldGrid(Math.ceil(tokens / TOKENS)),
  cost: ({ tokens, hidden_size: C, vocab_size: V }) => ({
    flops: 4 * tokens * V * C,
    bytes: 4 * (2 * tokens * C + V * C + 3 * tokens),
  }),
})

/** policy_kl with one invocation per token and no barriers: the same results, to rounding. */
export const policy_kl_narrow: typeof policy_kl = {
  ...policy_kl,
  name: 'policy_kl_narrow',
  wgsl: shared + narrow,
  workgroups: ({ tokens }) => foldGrid(Math.ceil(tokens / 64)),
}

const MAX_NARROW_SIZE = 128

/** The quicker of the two kernels: narrow where vocabulary and hidden size are both at most 128. */
export const policyKl = (shape: { hidden_size: number; vocab_size: number }): typeof policy_kl =>
  Math.max(shape.hidden_size, shape.vocab_size) <= MAX_NARROW_SIZE ? policy_kl_narrow : policy_kl
