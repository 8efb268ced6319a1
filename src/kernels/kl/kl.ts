// Declares the kernel of the KL term in the actor's loss.
import { defineKernel } from '../device/base/kernel.ts'
import reduce from '../wgsl/workgroup_reduce.wgsl?raw'
import k3 from './k3.wgsl?raw'
import loss from './kl_loss.wgsl?raw'

/** The KL term of the actor's loss, kl_loss_coef · Σ loss_weights · kld, where kld estimates
 * KL(policy ‖ reference) per token. `estimator` and `straight_through` are those of `klKind`;
 * `klPenalty` has the formulas.
 *
 * log_probs, ref_log_prob, loss_weights [tokens] → kld [tokens] in nats (overwritten, 0 where the
 * weight is 0); d_log_probs [tokens] is added to, kl_loss_coef · loss_weights · d kld / d log_prob;
 * sums[5] (`actor/kl_loss` of POLICY_LOSS_SUMS) is added Σ loss_weights · kld, without the
 * coefficient. Tokens of weight 0 are not looked at.
 *
 * Source: Schulman 2020, http://joschu.net/blog/kl-approx.html; verl verl/trainer/ppo/core_algos.py
 * kl_penalty and verl/workers/actor/dp_actor.py update_policy. */
export const kl_loss = defineKernel({
  name: 'kl_loss',
  wgsl: loss + k3 + reduce,
  params: { tokens: 'u32', estimator: 'u32', straight_through: 'u32', kl_loss_coef: 'f32' },
  bindings: {
    log_probs: 'read',
    ref_log_prob: 'read',
    loss_weights: 'read',
    kld: 'read_write',
    d_log_probs: 'read_write',
    sums: 'read_write',
  },
  workgroups: () => [1],
})
