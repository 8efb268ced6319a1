// Chooses the tokens of a loss that leaves out those that the policy was sure of.
import { defineKernel } from '../device/base/kernel.ts'
import wgsl from './high_entropy.wgsl?raw'

/** Keeps the tokens whose entropy is at least the `quantile` (0 to 1, linear between ranks) of the
 * entropies of all tokens with a token_weight.
 *
 * entropy (nats), token_weights, loss_weights [tokens] → pg_weights [tokens] become 0 where a token
 * is not kept; entropy_weights [tokens] = loss_weight · tokens / kept tokens where it is, else 0.
 *
 * Source: TRL 1.13 GRPOTrainer.get_high_entropy_mask (Wang et al. 2025, arXiv 2506.01939). */
export const high_entropy = defineKernel({
  name: 'high_entropy',
  wgsl,
  params: { tokens: 'u32', quantile: 'f32' },
  bindings: {
    entropy: 'read',
    token_weights: 'read',
    loss_weights: 'read',
    pg_weights: 'read_write',
    entropy_weights: 'read_write',
  },
  workgroups: () => [1],
})
