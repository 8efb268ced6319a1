// Declares the kernel of the critic's clipped loss.
import { defineKernel } from '../device/base/kernel.ts'
import reduce from '../wgsl/workgroup_reduce.wgsl?raw'
import loss from './value_loss.wgsl?raw'

/** What value_loss adds up, in the order of its `sums`; each is a mean already, and sums over
 * mini-batches add. */
export const VALUE_LOSS_SUMS = [
  'critic/vf_loss',
  'critic/vf_clipfrac',
  'critic/vpred_mean',
] as const

/** The critic's clipped squared error, vf_loss = 1/2 Σ loss_weights · max((v - R)², (c - R)²) with
 * c = clamp(v, V_old - cliprange_value, V_old + cliprange_value); a large cliprange_value (1e9)
 * means no clip.
 *
 * vpreds (v), values (V_old), returns (R), token_weights, loss_weights [tokens] → d_vpreds [tokens]
 * (overwritten; 0 where the clipped error is the larger); sums[VALUE_LOSS_SUMS.length] is added to.
 * token_weights = response_mask / tokens gives the metrics and says what is masked, loss_weights is
 * the aggregation of the loss. Masked tokens are not looked at.
 *
 * Source: verl verl/trainer/ppo/core_algos.py compute_value_loss. */
export const value_loss = defineKernel({
  name: 'value_loss',
  wgsl: loss + reduce,
  params: { tokens: 'u32', cliprange_value: 'f32' },
  bindings: {
    vpreds: 'read',
    values: 'read',
    returns: 'read',
    token_weights: 'read',
    loss_weights: 'read',
    d_vpreds: 'read_write',
    sums: 'read_write',
  },
  workgroups: () => [1],
})
