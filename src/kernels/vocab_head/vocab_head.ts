// The vocabulary head: unembedding, log-sum-exp, log-prob and entropy in one pass, so that no [tokens, V]
// array exists. One set of kernels for the final policy and for every layer's own policy.
import { defineKernel, foldGrid } from '../gpu.ts'
import reduce from '../wgsl/workgroup_reduce.wgsl?raw'
import gradient from './head_gradient.wgsl?raw'
import tile from './head_tile.wgsl?raw'
import backward_hidden from './vocab_head_backward_hidden.wgsl?raw'
import backward_weight from './vocab_head_backward_weight.wgsl?raw'
import forward from './vocab_head_forward.wgsl?raw'

/** Tile of head_tile.wgsl. */
const NARROW = 16
const WIDE = 64

const params = {
  /** B. */
  rows: 'u32',
  /** T: rows of `hidden` per row of the batch. */
  width: 'u32',
  /** Column whose state predicts the first response token: P - 1. */
  first_column: 'u32',
  /** R. */
  response_length: 'u32',
  /** C. */
  hidden_size: 'u32',
  /** V. */
  vocab_size: 'u32',
  /** 1 / temperature: scales logits before everything, entropy included, as verl does. */
  inv_temperature: 'f32',
} as const

const tokenTiles = (p: { rows: number; response_length: number }): [number, number] =>
  foldGrid(Math.ceil((p.rows * p.response_length) / NARROW))

/**
 * z = hidden · weightᵀ · inv_temperature; lse = log Σ exp z; log_prob = z[y] - lse; entropy = lse - Σ softmax(z) z.
 *
 * hidden [B·T, C], weight [V, C], response_ids u32 [B, R], response_mask [B, R] → log_probs, entropy, lse [B, R], nats.
 * Response token t of row b is scored by hidden row b·T + first_column + t; the caller keeps first_column + R ≤ T.
 * Tokens with response_mask 0 give 0 in all three. A token's numbers are the same bits in any batch: they do not
 * depend on its place or on its neighbours. Ids of unmasked tokens must be below V.
 *
 * Source: verl verl/utils/torch_functional.py logprobs_from_logits, entropy_from_logits; running softmax as in
 * FlashAttention, arXiv 2205.14135.
 */
export const vocab_head_forward = defineKernel({
  name: 'vocab_head_forward',
  wgsl: forward + tile + reduce,
  params,
  bindings: {
    hidden: 'read',
    weight: 'read',
    response_ids: 'read',
    response_mask: 'read',
    log_probs: 'read_write',
    entropy: 'read_write',
    lse: 'read_write',
  },
  workgroups: tokenTiles,
})

/**
 * d_hidden = inv_temperature · d_z · weight, where
 * d_z[j] = d_log_prob · (1[j = y] - p_j) - d_entropy · p_j (log p_j + H) and p = softmax(z).
 *
 * hidden, weight, response_ids as in the forward; its lse and entropy [B, R]; d_log_probs, d_entropy [B, R]
 * → d_hidden [B·T, C]. Overwrites rows of response tokens and leaves the others (and tiles of 16 tokens without any
 * gradient) as they are: the caller clears d_hidden first. There is no mask here: a token without gradient has both
 * d_log_probs and d_entropy 0.
 */
export const vocab_head_backward_hidden = defineKernel({
  name: 'vocab_head_backward_hidden',
  wgsl: backward_hidden + tile + gradient + reduce,
  params,
  bindings: {
    hidden: 'read',
    weight: 'read',
    response_ids: 'read',
    lse: 'read',
    entropy: 'read',
    d_log_probs: 'read',
    d_entropy: 'read',
    d_hidden: 'read_write',
  },
  workgroups: tokenTiles,
})

/**
 * partials[s] = inv_temperature · d_zᵀ · hidden over the s-th contiguous part of the tokens; d_z as in
 * vocab_head_backward_hidden. d_weight is the sum of partials [splits, V, C] over s.
 *
 * Writes all of partials, so it need not be cleared. `splits` from headSplits.
 */
export const vocab_head_backward_weight = defineKernel({
  name: 'vocab_head_backward_weight',
  wgsl: backward_weight + tile + gradient + reduce,
  params: { ...params, splits: 'u32' },
  bindings: {
    hidden: 'read',
    weight: 'read',
    response_ids: 'read',
    lse: 'read',
    entropy: 'read',
    d_log_probs: 'read',
    d_entropy: 'read',
    partials: 'read_write',
  },
  workgroups: ({ vocab_size, splits }) => [Math.ceil(vocab_size / NARROW), splits],
})

/** Workgroups that keep a large GPU busy. */
const ENOUGH_WORKGROUPS = 512
const PARTIALS_BYTES = 8 * 1024 * 1024

/**
 * Parts into which vocab_head_backward_weight cuts the tokens: enough workgroups to fill a GPU, no part shorter than
 * one tile of 64 tokens, and partials of at most 8 MiB unless one part alone is larger.
 */
export function headSplits(tokens: number, hidden_size: number, vocab_size: number): number {
  const wanted = Math.ceil(ENOUGH_WORKGROUPS / Math.ceil(vocab_size / NARROW))
  const fitting = Math.floor(PARTIALS_BYTES / (4 * vocab_size * hidden_size))
  return Math.max(1, Math.min(wanted, Math.ceil(tokens / WIDE), fitting))
}
