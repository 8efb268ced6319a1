// Gives one importance ratio for a whole response, around a loss that knows ratios of tokens.
import { defineKernel } from '../device/base/kernel.ts'
import gradient from './sequence_gradient.wgsl?raw'
import ratio from './sequence_ratio.wgsl?raw'

const params = { rows: 'u32', response_length: 'u32' } as const

/** old_log_probs [rows, R] such that log_probs - old_log_probs is, at every token of mask 1, the
 * mean log ratio of its row; exactly 0 where that is. Other tokens keep what they have.
 *
 * Source: TRL 1.13 GRPOTrainer._compute_loss, importance_sampling_level "sequence". */
export const sequence_ratio = defineKernel({
  name: 'sequence_ratio',
  wgsl: ratio,
  params,
  bindings: { log_probs: 'read', response_mask: 'read', old_log_probs: 'read_write' },
  workgroups: () => [1],
})

/** d_log_probs [rows, R] becomes its mean over the tokens of mask 1 of the row, and 0 at others: a
 * loss of such a ratio moves every token of the row alike. */
export const sequence_gradient = defineKernel({
  name: 'sequence_gradient',
  wgsl: gradient,
  params,
  bindings: { response_mask: 'read', d_log_probs: 'read_write' },
  workgroups: () => [1],
})
