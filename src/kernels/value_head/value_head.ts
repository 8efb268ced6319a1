// The value head: one number per response token, read from the state that predicts it.
import { defineKernel, foldGrid } from '../kernel.ts'
import reduce from '../wgsl/workgroup_reduce.wgsl?raw'
import shared from './value_head.wgsl?raw'
import backward_hidden from './value_head_backward_hidden.wgsl?raw'
import backward_weight from './value_head_backward_weight.wgsl?raw'
import forward from './value_head_forward.wgsl?raw'

/** States up to this wide are one invocation's work, as in rms_norm. */
const NARROW = 256
/** Columns of one workgroup of value_head_backward_weight. */
const COLUMNS = 16

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
} as const

/**
 * values[b, t] = hidden[b·T + first_column + t] · weight + bias, and 0 where response_mask is 0.
 *
 * hidden [B·T, C], weight [1, C], bias [1], response_mask [B, R] → values [B, R]. The caller keeps first_column + R ≤ T.
 * A token's value is the same bits in any batch. A head without a bias binds a tensor that holds 0.
 *
 * Source: verl verl/workers/critic/dp_critic.py _forward_micro_batch (values[:, -R-1:-1] of a token classifier with
 * one label).
 */
export const value_head_forward = defineKernel({
  name: 'value_head_forward',
  wgsl: forward + shared + reduce,
  constants: { NARROW },
  params,
  bindings: {
    hidden: 'read',
    weight: 'read',
    bias: 'read',
    response_mask: 'read',
    values: 'read_write',
  },
  workgroups: ({ rows, response_length, hidden_size }) => {
    const tokens = rows * response_length
    return foldGrid(hidden_size <= NARROW ? Math.ceil(tokens / 64) : tokens)
  },
  cost: ({ rows, response_length, hidden_size: C }) => {
    const tokens = rows * response_length
    return { flops: 2 * tokens * C, bytes: 4 * (tokens * (C + 2) + C + 1) }
  },
})

/**
 * d_hidden[b·T + first_column + t, c] = d_values[b, t] · weight[c].
 *
 * d_values [B, R], weight [1, C] → d_hidden [B·T, C]. Overwrites the rows of response tokens and leaves the others as they
 * are: the caller clears d_hidden first. There is no mask here: a masked token has d_values 0.
 */
export const value_head_backward_hidden = defineKernel({
  name: 'value_head_backward_hidden',
  wgsl: backward_hidden + shared,
  params,
  bindings: { d_values: 'read', weight: 'read', d_hidden: 'read_write' },
  workgroups: ({ rows, response_length, hidden_size }) =>
    foldGrid(Math.ceil((rows * response_length * hidden_size) / 64)),
  cost: ({ rows, response_length, hidden_size: C }) => {
    const tokens = rows * response_length
    return { flops: tokens * C, bytes: 4 * (tokens * (C + 1) + C) }
  },
})

/**
 * d_weight[c] += Σ_tokens d_values · hidden[·, c] and d_bias += Σ_tokens d_values, in a fixed order.
 *
 * hidden [B·T, C], d_values [B, R] → d_weight [1, C], d_bias [1], added to. Tokens with d_values 0 are not read.
 */
export const value_head_backward_weight = defineKernel({
  name: 'value_head_backward_weight',
  wgsl: backward_weight + shared,
  params,
  bindings: { hidden: 'read', d_values: 'read', d_weight: 'read_write', d_bias: 'read_write' },
  workgroups: ({ hidden_size }) => foldGrid(Math.ceil((hidden_size + 1) / COLUMNS)),
  cost: ({ rows, response_length, hidden_size: C }) => {
    const tokens = rows * response_length
    return { flops: tokens * (2 * C + 1), bytes: 4 * (tokens * (C + 1) + 2 * (C + 1)) }
  },
})
