// Objectives: from log-probs to a loss, its gradient and the metrics, in one dispatch.
import { defineKernel } from '../kernel.ts'
import reduce from '../wgsl/workgroup_reduce.wgsl?raw'
import vanilla from './policy_loss_vanilla.wgsl?raw'
import sft from './sft_loss.wgsl?raw'

/**
 * What policy_loss_vanilla adds up, in the order of its `sums`. Each is a mean over the response tokens of one
 * mini-batch (already times inv_token_count), so sums over k mini-batches are k times the mean of means.
 * `actor/pg_loss` leaves the entropy term out; `actor/entropy` is of the policy being updated.
 */
export const POLICY_LOSS_SUMS = [
  'actor/pg_loss',
  'actor/ppo_kl',
  'actor/pg_clipfrac',
  'actor/pg_clipfrac_lower',
  'actor/entropy',
] as const

/**
 * PPO's clipped loss with dual clip, minus entropy_coeff · entropy, averaged over response tokens ("token-mean").
 *
 * x = clamp(log_prob - old_log_prob, ±20), r = exp(x), M = max(-A r, -A clamp(r, 1 - low, 1 + high));
 * L = min(-A · clip_ratio_c, M) where A < 0, else M. d_log_prob = -A r · mask · inv_token_count, 0 where a clip is active.
 *
 * log_probs, old_log_probs, advantages, response_mask, entropy [tokens] → d_log_probs, d_entropy [tokens] (overwritten);
 * sums[POLICY_LOSS_SUMS.length] is added to. inv_token_count = 1 / Σ response_mask of the whole mini-batch, also when this
 * call sees a part of it. r is exactly 1 where both log-probs are the same bits; advantage 0 gives a gradient of exactly 0;
 * where the two sides of a max or min tie, the unclipped gradient applies in full. Masked tokens are not looked at.
 *
 * Source: Schulman et al. 2017 eq. 7, arXiv 1707.06347; dual clip Ye et al. 2020 eq. 5, arXiv 1912.09729;
 * verl verl/trainer/ppo/core_algos.py compute_policy_loss_vanilla.
 */
export const policy_loss_vanilla = defineKernel({
  name: 'policy_loss_vanilla',
  wgsl: vanilla,
  params: {
    tokens: 'u32',
    clip_ratio_low: 'f32',
    clip_ratio_high: 'f32',
    clip_ratio_c: 'f32',
    inv_token_count: 'f32',
    entropy_coeff: 'f32',
  },
  bindings: {
    log_probs: 'read',
    old_log_probs: 'read',
    advantages: 'read',
    response_mask: 'read',
    entropy: 'read',
    d_log_probs: 'read_write',
    d_entropy: 'read_write',
    sums: 'read_write',
  },
  workgroups: () => [1],
})

/**
 * Mean cross-entropy: loss = -Σ mask · log_prob · inv_token_count.
 *
 * log_probs, response_mask [tokens] → d_log_probs = -mask · inv_token_count and d_entropy = 0, both [tokens];
 * sums[0] += loss, in nats per token.
 */
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
