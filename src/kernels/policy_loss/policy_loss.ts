// Objectives: from log-probs to a loss, its gradient and the metrics. loss_weights says how tokens are averaged, a policy
// loss says what each is worth; every policy loss has the interface of policy_loss_frame.ts.
import { defineKernel } from '../device/kernel.ts'
import reduce from '../wgsl/workgroup_reduce.wgsl?raw'
import entropy from './entropy_loss.wgsl?raw'
import weights from './loss_weights.wgsl?raw'
import cispo from './policy_loss_cispo.wgsl?raw'
import { policy_loss_clip_cov, policy_loss_kl_cov } from './policy_loss_cov.ts'
import { type PolicyLossKernel, policyLoss } from './policy_loss_frame.ts'
import geo_mean from './policy_loss_geo_mean.wgsl?raw'
import gpg from './policy_loss_gpg.wgsl?raw'
import gspo from './policy_loss_gspo.wgsl?raw'
import reinforce from './policy_loss_reinforce.wgsl?raw'
import sapo from './policy_loss_sapo.wgsl?raw'
import token from './policy_loss_token.wgsl?raw'
import vanilla from './policy_loss_vanilla.wgsl?raw'
import sft from './sft_loss.wgsl?raw'

export type { PolicyLossKernel } from './policy_loss_frame.ts'

/**
 * What the losses add up, in the order of their `sums`. The first four are a policy loss's own (0 where it has no such
 * metric), actor/entropy is entropy_loss's, actor/kl_loss is kl_loss's. Each is a mean over one mini-batch, also when
 * several calls see a part of it: the weights of loss_weights hold the divisor. `actor/pg_loss` leaves entropy and KL
 * out; entropy is of the policy being updated, in nats.
 */
export const POLICY_LOSS_SUMS = [
  'actor/pg_loss',
  'actor/ppo_kl',
  'actor/pg_clipfrac',
  'actor/pg_clipfrac_lower',
  'actor/entropy',
  'actor/kl_loss',
] as const

/** verl's names of the policy losses (actor.policy_loss.loss_mode); `reinforce` is what its bypass_mode can choose. */
export const LOSS_MODES = [
  'vanilla',
  'gspo',
  'sapo',
  'gpg',
  'clip_cov',
  'kl_cov',
  'geo_mean',
  'cispo',
  'reinforce',
] as const
export type LossMode = (typeof LOSS_MODES)[number]

/** verl's names of the means over tokens (actor.loss_agg_mode); loss_weights takes the index. */
export const LOSS_AGG_MODES = [
  'token-mean',
  'seq-mean-token-sum',
  'seq-mean-token-mean',
  'seq-mean-token-sum-norm',
] as const
export type LossAggMode = (typeof LOSS_AGG_MODES)[number]

/** How the policy loss itself is averaged: gspo and sapo always by sequence, whatever loss_agg_mode says of entropy and KL. */
export function pgAggMode(loss_mode: LossMode, loss_agg_mode: LossAggMode): LossAggMode {
  return loss_mode === 'gspo' || loss_mode === 'sapo' ? 'seq-mean-token-mean' : loss_agg_mode
}

/** verl's arguments of agg_loss. A count that is null or missing is the batch's own. */
export interface Aggregation {
  readonly loss_agg_mode: LossAggMode
  /** Response tokens of the whole mini-batch, over all ranks. */
  readonly batch_num_tokens?: number | null
  /** Responses of the whole mini-batch, over all ranks. */
  readonly global_batch_size?: number | null
  /** Data-parallel ranks whose gradients are averaged afterwards. */
  readonly dp_size?: number | null
  /** Divisor of seq-mean-token-sum-norm; missing: the columns R of the response. */
  readonly loss_scale_factor?: number | null
}

/**
 * The params of loss_weights that say what is divided by. verl multiplies by dp_size what it divided by a count; here the
 * count is divided by dp_size. 0 = the kernel takes the batch's own, which with several ranks is not enough: RangeError,
 * as in verl. A page is one rank and lets the kernel count, so only `lab conform` calls it.
 */
export function aggregationParams({
  batch_num_tokens,
  global_batch_size,
  dp_size,
  loss_scale_factor,
}: Omit<Aggregation, 'loss_agg_mode'>): {
  token_count: number
  sequence_count: number
  loss_scale_factor: number
} {
  const ranks = dp_size ?? 1
  const own = { batch_num_tokens, global_batch_size }
  for (const [name, count] of Object.entries(own))
    if (typeof count === 'number' && !(count >= 0))
      throw new RangeError(`${name}: expected null or 0 and more, got ${count}`)
  if (typeof loss_scale_factor === 'number' && !(loss_scale_factor > 0))
    throw new RangeError(`loss_scale_factor: expected null or above 0, got ${loss_scale_factor}`)
  if (!(ranks >= 1)) throw new RangeError(`dp_size: expected 1 or more, got ${ranks}`)
  for (const [name, count] of Object.entries(own))
    if (ranks > 1 && typeof count !== 'number')
      throw new RangeError(`${name}: expected a number because dp_size is ${ranks}, got ${count}`)
  return {
    token_count: (batch_num_tokens ?? 0) / ranks,
    sequence_count: (global_batch_size ?? 0) / ranks,
    loss_scale_factor: loss_scale_factor ?? 0,
  }
}

/**
 * The weight of every token in the two means of an update: loss_weights for entropy and KL (loss_agg_mode), pg_weights
 * for the policy loss (pg_agg_mode, see pgAggMode; times rollout_is_weights); token_weights = mask / tokens for the
 * metrics.
 *
 * response_mask, rollout_is_weights (1 where there are none) [rows, R] → token_weights, loss_weights, pg_weights [rows,
 * R] (overwritten). The modes are indices in LOSS_AGG_MODES. token_count, sequence_count, loss_scale_factor: see
 * aggregationParams; 0 = Σ mask, rows with a token, R. scale multiplies all three (1/k for the mean of k micro-batches
 * that are each divided by their own counts, verl's legacy worker). Rows without a token count in no mean; without any
 * token all weights are 0, not NaN. rollout_is_weights are not looked at where the mask is 0.
 *
 * Source: verl verl/trainer/ppo/core_algos.py agg_loss; its n + 1e-8 per row is n in f32.
 */
export const loss_weights = defineKernel({
  name: 'loss_weights',
  wgsl: weights + reduce,
  params: {
    rows: 'u32',
    response_length: 'u32',
    loss_agg_mode: 'u32',
    pg_agg_mode: 'u32',
    token_count: 'f32',
    sequence_count: 'f32',
    loss_scale_factor: 'f32',
    scale: 'f32',
  },
  bindings: {
    response_mask: 'read',
    rollout_is_weights: 'read',
    token_weights: 'read_write',
    loss_weights: 'read_write',
    pg_weights: 'read_write',
  },
  workgroups: () => [1],
})

/**
 * PPO's clipped loss with dual clip.
 *
 * x = clamp(log_prob - old_log_prob, ±20), r = exp(x), M = max(-A r, -A clamp(r, 1 - low, 1 + high)); L = min(-A ·
 * clip_ratio_c, M) where A < 0, else M. d_log_prob = -A r · pg_weight, 0 where a clip or the clamp is active.
 *
 * Of this and every policy loss: log_probs, old_log_probs, advantages, token_weights, pg_weights, rollout_is_weights
 * [rows, R] → d_log_probs [rows, R] (overwritten); sums[0..3] of POLICY_LOSS_SUMS are added to, in nats. Weights come
 * from loss_weights. r is exactly 1 where both log-probs are the same bits; advantage 0 gives a gradient of exactly 0;
 * where the two sides of a max or min tie, the unclipped gradient applies in full. Tokens with token_weight 0 are not
 * looked at.
 *
 * Source: Schulman et al. 2017 eq. 7, arXiv 1707.06347; dual clip Ye et al. 2020 eq. 5, arXiv 1912.09729;
 * verl verl/trainer/ppo/core_algos.py compute_policy_loss_vanilla.
 */
export const policy_loss_vanilla = policyLoss('policy_loss_vanilla', vanilla + token)

/**
 * GSPO: PPO's clip on one ratio per response. Over a row's tokens s = mean(log_prob - old_log_prob), ρ = exp(min(s, 10));
 * L = max(-A ρ, -A clamp(ρ, 1 - low, 1 + high)) at each token; d_log_prob = -A ρ · pg_weight, 0 where clipped or s > 10.
 * pg_weights must be of seq-mean-token-mean (pgAggMode). ppo_kl is of the tokens, not clamped.
 *
 * Source: Zheng et al. 2025 (GSPO-token), arXiv 2507.18071; verl core_algos.py compute_policy_loss_gspo.
 */
export const policy_loss_gspo = policyLoss('policy_loss_gspo', gspo)

/**
 * SAPO: a soft gate in place of the clip. x = clamp(log_prob - old_log_prob, ±20), r = exp(x), τ = tau_pos where A > 0,
 * else tau_neg, σ = sigmoid(τ (r - 1)); L = -A σ · 4/τ; d_log_prob = -4 A σ (1 - σ) r · pg_weight, 0 where x is clamped:
 * exactly -A · pg_weight at r = 1. pg_weights must be of seq-mean-token-mean (pgAggMode). No clip metrics.
 *
 * Source: Gao et al. 2025, arXiv 2511.20347; verl core_algos.py compute_policy_loss_sapo.
 */
export const policy_loss_sapo = policyLoss('policy_loss_sapo', sapo + token)

/**
 * GPG: the plain policy gradient, L = -A log_prob; d_log_prob = -A · pg_weight. old_log_probs are not used; no metrics.
 *
 * Source: Chu et al. 2025, arXiv 2504.02546; verl core_algos.py compute_policy_loss_gpg.
 */
export const policy_loss_gpg = policyLoss('policy_loss_gpg', gpg + token)

/**
 * GMPO: one geometric-mean ratio per response, clipped per token in log space. x = log_prob - old_log_prob (not clamped
 * to ±20), y = the smaller of A's sign times x and times clamp(x, -low, high), times that sign again (0 where A is 0);
 * over a row's tokens loss = -mean(A) · exp(mean(y)) · exp(mean(log(rollout_is_weight + 1e-10))). The mean over all rows,
 * empty ones too: sequence_scale = 1 / rows of the mini-batch. pg_weights and loss_agg_mode are not used. d_log_prob =
 * loss / tokens of the row where y = x and A is not 0, else 0. pg_clipfrac counts x outside the range where A > 0,
 * pg_clipfrac_lower where A < 0.
 *
 * Source: Zhao et al. 2025, arXiv 2507.20673; verl core_algos.py compute_policy_loss_geo_mean.
 */
export const policy_loss_geo_mean = policyLoss('policy_loss_geo_mean', geo_mean)

/**
 * CISPO: the clipped ratio is a weight, not a gate. x = clamp(log_prob - old_log_prob, ±20), c = clamp(exp(x), 1 - low, 1
 * + high) held constant; L = -c A log_prob; d_log_prob = -c A · pg_weight, everywhere. pg_clipfrac counts exp(x) outside
 * the range.
 *
 * Source: MiniMax 2025, arXiv 2506.13585; verl core_algos.py compute_policy_loss_cispo.
 */
export const policy_loss_cispo = policyLoss('policy_loss_cispo', cispo + token)

/**
 * REINFORCE with rollout weights: L = -A log_prob · w, w in pg_weights; d_log_prob = -A · pg_weight. old_log_probs (the
 * rollout's) are for ppo_kl = mean(old_log_prob - log_prob) only.
 *
 * Source: Williams 1992; verl core_algos.py compute_policy_loss_reinforce.
 */
export const policy_loss_reinforce = policyLoss('policy_loss_reinforce', reinforce + token)

/** The kernel of every loss_mode; all have one interface. */
export const POLICY_LOSSES: Readonly<Record<LossMode, PolicyLossKernel>> = {
  vanilla: policy_loss_vanilla,
  gspo: policy_loss_gspo,
  sapo: policy_loss_sapo,
  gpg: policy_loss_gpg,
  clip_cov: policy_loss_clip_cov,
  kl_cov: policy_loss_kl_cov,
  geo_mean: policy_loss_geo_mean,
  cispo: policy_loss_cispo,
  reinforce: policy_loss_reinforce,
}

const KL = ['actor/ppo_kl'] as const
const CLIP = ['actor/ppo_kl', 'actor/pg_clipfrac'] as const
const DUAL_CLIP = ['actor/ppo_kl', 'actor/pg_clipfrac', 'actor/pg_clipfrac_lower'] as const

/** The metrics that verl's function of each loss_mode returns beside its loss; of gspo, sapo and cispo some are always 0. */
export const POLICY_LOSS_METRICS: Readonly<
  Record<LossMode, readonly (typeof POLICY_LOSS_SUMS)[number][]>
> = {
  vanilla: DUAL_CLIP,
  gspo: DUAL_CLIP,
  sapo: DUAL_CLIP,
  gpg: [],
  clip_cov: CLIP,
  kl_cov: KL,
  geo_mean: DUAL_CLIP,
  cispo: DUAL_CLIP,
  reinforce: KL,
}

/**
 * Entropy as a term of the loss, -entropy_coeff · Σ loss_weight · entropy, and as a metric.
 *
 * entropy (nats), loss_weights [tokens] → d_entropy = -entropy_coeff · loss_weight [tokens] (overwritten); sums[4], which
 * is actor/entropy, += Σ loss_weight · entropy, also where entropy_coeff is 0. Tokens of weight 0 are not looked at.
 *
 * Source: verl verl/workers/actor/dp_actor.py update_policy.
 */
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
