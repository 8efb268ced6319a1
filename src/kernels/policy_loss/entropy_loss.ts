// Declares losses without an advantage: the entropy term and the cross-entropy.
import { defineKernel } from '../device/base/kernel.ts'
import reduce from '../wgsl/workgroup_reduce.wgsl?raw'
import entropy from './entropy_loss.wgsl?raw'
import sft from './sft_loss.wgsl?raw'

/** Entropy as a term of the loss, -entropy_coeff · Σ loss_weight · entropy, and as a metric.
 *
 * entropy (nats), loss_weights [tokens] → d_entropy = -entropy_coeff · loss_weight [tokens]
 * (overwritten); sums[4], which is actor/entropy, += Σ loss_weight · entropy, also where
 * entropy_coeff is 0. Tokens of weight 0 are not read.
 *
 * Source: verl verl/workers/actor/dp_actor.py update_policy. */
export const entropy_loss = defineKernel({
  name: 'entropy_loss',
  wgsl: entropy + reduce,
  params: { tokens: 'u32', entropy_coeff: 'f32' },
  bindings: {
    entropy: 'read',
    loss_weights: 'read',
    d_entropy: 'read_write',
    sums: 'read_write',
  },
  workgroups: () => [1],
})

/** Mean cross-entropy: loss = -Σ mask · log_prob · inv_token_count.
 *
 * log_probs, response_mask [tokens] → d_log_probs = -mask · inv_token_count and d_entropy = 0, both
 * [tokens]; sums[0] += loss, in nats per token. */
export const sft_loss = defineKernel({
  name: 'sft_loss',
  wgsl: sft + reduce,
  params: { tokens: 'u32', inv_token_count: 'f32' },
  bindings: {
    log_probs: 'read',
    response_mask: 'read',
    d_log_probs: 'read_write',
    d_entropy: 'read_write',
    sums: 'read_write',
  },
  workgroups: () => [1],
})
