// Declares the value head: one number per response token, read from the state that predicts it.
import { defineKernel, foldGrid } from '../device/base/kernel.ts'
import reduce from '../wgsl/workgroup_reduce.wgsl?raw'
import backward_hidden from './value_head_backward_hidden.wgsl?raw'
import backward_weight from './value_head_backward_weight.wgsl?raw'
import forward from './value_head_forward.wgsl?raw'

/** States up to this wide are one invocation's work, as in rms_norm. */
const NARROW = 256
/** Columns of one workgroup of value_head_backward_weight. */
const COLUMNS = 16

const params = {
  /** S: entries of the list, as many as the [B, R] arrays have places. */
  tokens: 'u32',
  /** C. */
  hidden_size: 'u32',
} as const

/** values[slot] = hidden[state] · weight + bias, and 0 where isScored is 0, for each entry (state,
 * slot, id, isScored) of `scored` (ScoredTokens of the vocabulary head; ids are not used, nor is
 * the state of an entry with isScored 0).
 *
 * hidden [states, C], weight [1, C], bias [1], scored u32 [S, 4] → values [B, R]. The list holds
 * every slot once, in any order. A token's value is the same bits in any list. A head without a
 * bias binds a tensor that holds 0.
 *
 * Source: verl verl/workers/critic/dp_critic.py _forward_micro_batch (values[:, -R-1:-1] of a token
 * classifier with one label). */
export const value_head_forward = defineKernel({
  name: 'value_head_forward',
  wgsl: forward + reduce,
  constants: { NARROW },
  params,
  bindings: {
    hidden: 'read',
    weight: 'read',
    bias: 'read',
    scored: 'read vec4u',
    values: 'read_write',
  },
  workgroups: ({ tokens, hidden_size }) =>
    foldGrid(hidden_size <= NARROW ? Math.ceil(tokens / 64) : tokens),
  cost: ({ tokens, hidden_size: C }) => ({
    flops: 2 * tokens * C,
    bytes: 4 * (tokens * (C + 5) + C + 1),
  }),
})

/** d_hidden[state, c] = d_values[slot] · weight[c] for each scored entry of the list.
 *
 * d_values [B, R], weight [1, C], scored as in the forward → d_hidden [states, C]. Overwrites the
 * rows of scored tokens, each of them one token's alone, and leaves the others as they are: the
 * caller clears d_hidden first. */
export const value_head_backward_hidden = defineKernel({
  name: 'value_head_backward_hidden',
  wgsl: backward_hidden,
  params,
  bindings: { d_values: 'read', weight: 'read', scored: 'read vec4u', d_hidden: 'read_write' },
  workgroups: ({ tokens, hidden_size }) => foldGrid(Math.ceil((tokens * hidden_size) / 64)),
  cost: ({ tokens, hidden_size: C }) => ({
    flops: tokens * C,
    bytes: 4 * (tokens * (C + 5) + C),
  }),
})

/** d_weight[c] += Σ_tokens d_values · hidden[·, c] and d_bias += Σ_tokens d_values, in an order
 * that the list's order fixes.
 *
 * hidden [states, C], d_values [B, R], scored as in the forward → d_weight [1, C], d_bias [1],
 * added to. States of tokens with isScored or d_values 0 are not read. */
export const value_head_backward_weight = defineKernel({
  name: 'value_head_backward_weight',
  wgsl: backward_weight,
  params,
  bindings: {
    hidden: 'read',
    d_values: 'read',
    scored: 'read vec4u',
    d_weight: 'read_write',
    d_bias: 'read_write',
  },
  workgroups: ({ hidden_size }) => foldGrid(Math.ceil((hidden_size + 1) / COLUMNS)),
  cost: ({ tokens, hidden_size: C }) => ({
    flops: tokens * (2 * C + 1),
    bytes: 4 * (tokens * (C + 5) + 2 * (C + 1)),
  }),
})
