// Corrects for a rollout policy that is not the policy being updated, on the GPU: for bypass
// mode, where the second changes with every mini-batch.
import { defineKernel } from '../device/base/kernel.ts'
import k3 from '../kl/k3.wgsl?raw'
import correction from './rollout_correction.wgsl?raw'

/** verl's criteria of rollout_rs: what is bounded, per token or over a response. */
export const RS_CRITERIA = [
  'token_k1',
  'token_k2',
  'token_k3',
  'seq_sum_k1',
  'seq_sum_k2',
  'seq_sum_k3',
  'seq_mean_k1',
  'seq_mean_k2',
  'seq_mean_k3',
  'seq_max_k2',
  'seq_max_k3',
] as const
export type RsCriterion = (typeof RS_CRITERIA)[number]

/** What the kernel takes for each rollout_is; null = no weights. */
export const ROLLOUT_IS = [null, 'token', 'sequence'] as const

/** Bounds of every criterion, in nats. */
export type RsBounds = Readonly<Record<`lower_${RsCriterion}` | `upper_${RsCriterion}`, number>>

/** Bounds that every finite statistic is within: spread it, then set those of the criteria in
 * use. */
export const RS_UNBOUNDED = Object.fromEntries(
  RS_CRITERIA.flatMap((name) => [
    [`lower_${name}`, -1e30],
    [`upper_${name}`, 1e30],
  ]),
) as RsBounds

/** What rollout_correction adds up, in the order of its `sums`; each is a mean over the response
 * tokens of one call, but the factor, which is the divisor of the weights, and with sequence
 * weights the two fractions, which are of rows. verl reports the second with rejection only, the
 * fourth with batch_normalize only, the others but the first with weights only. rollout_is_mean is
 * of the weights before truncation, with IcePop after it. The last three count weights above
 * is_threshold, below the lower bound (is_lower, else 1 / is_threshold), and beyond either. */
export const ROLLOUT_CORRECTION_SUMS = [
  'rollout_corr/kl',
  'rollout_corr/rollout_rs_masked_fraction',
  'rollout_corr/rollout_is_mean',
  'rollout_corr/rollout_is_batch_norm_factor',
  'rollout_corr/rollout_is_ratio_fraction_high',
  'rollout_corr/rollout_is_ratio_fraction_low',
  'rollout_corr/rollout_is_oob_ratio',
] as const

/** Importance weights and rejection mask from the log-probs of the policy being updated and of the
 * rollout.
 *
 * With l = log_prob - rollout_log_prob: token weights exp(clamp(l, ±20)), sequence weights
 * exp(clamp(Σ l, ±20)) for the whole row, truncated from above at is_threshold, or where is_lower >
 * 0 set to 0 outside of the two (IcePop, verl 0.8); batch_normalize divides by their mean over
 * tokens or over rows with a token, unless it is below 1e-8. A token is kept where every statistic
 * is within its bounds, ends included: k1 = -l, k2 = l²/2, k3 = e^l - 1 - l of l clamped to ±20,
 * per token or as sum, mean or maximum over its row's tokens. The bounds of k1 are logarithms of
 * bounds on π_rollout/π; k2 and k3 need upper ones only; criteria not in use have those of
 * RS_UNBOUNDED. Weights and their mean are of response_mask, not of the modified mask.
 *
 * log_probs, rollout_log_probs, response_mask [rows, R] → modified_mask, rollout_is_weights [rows,
 * R] (overwritten; 0 where masked, a rejected token keeps its weight; rollout_is 0 gives weights 1,
 * and so does weighs 0, where the sums still speak of the weights that rollout_is asks for);
 * sums[ROLLOUT_CORRECTION_SUMS.length] is added to. rollout_is is an index in ROLLOUT_IS. Masked
 * tokens are not looked at; without any token nothing is added.
 *
 * Source: verl verl/trainer/ppo/rollout_corr_helper.py compute_rollout_correction_weights and
 * compute_rollout_rejection_mask; truncated weights Ionides 2008, doi 10.1198/106186008X320456. */
export const rollout_correction = defineKernel({
  name: 'rollout_correction',
  wgsl: correction + k3,
  params: {
    rows: 'u32',
    response_length: 'u32',
    rollout_is: 'u32',
    is_threshold: 'f32',
    is_lower: 'f32',
    batch_normalize: 'u32',
    weighs: 'u32',
    lower_token_k1: 'f32',
    upper_token_k1: 'f32',
    lower_token_k2: 'f32',
    upper_token_k2: 'f32',
    lower_token_k3: 'f32',
    upper_token_k3: 'f32',
    lower_seq_sum_k1: 'f32',
    upper_seq_sum_k1: 'f32',
    lower_seq_sum_k2: 'f32',
    upper_seq_sum_k2: 'f32',
    lower_seq_sum_k3: 'f32',
    upper_seq_sum_k3: 'f32',
    lower_seq_mean_k1: 'f32',
    upper_seq_mean_k1: 'f32',
    lower_seq_mean_k2: 'f32',
    upper_seq_mean_k2: 'f32',
    lower_seq_mean_k3: 'f32',
    upper_seq_mean_k3: 'f32',
    lower_seq_max_k2: 'f32',
    upper_seq_max_k2: 'f32',
    lower_seq_max_k3: 'f32',
    upper_seq_max_k3: 'f32',
  },
  bindings: {
    log_probs: 'read',
    rollout_log_probs: 'read',
    response_mask: 'read',
    modified_mask: 'read_write',
    rollout_is_weights: 'read_write',
    sums: 'read_write',
  },
  workgroups: () => [1],
})
