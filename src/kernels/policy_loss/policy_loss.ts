// The policy losses: from log-probs and advantages to a gradient and metrics. loss_weights.ts says how tokens are averaged;
// every policy loss has the interface of policy_loss_frame.ts.
import { policy_loss_clip_cov, policy_loss_kl_cov } from './cov/policy_loss_cov.ts'
import type { LossMode } from './loss_modes.ts'
import cispo from './policy_loss_cispo.wgsl?raw'
import { type PolicyLossKernel, policyLoss } from './policy_loss_frame.ts'
import geo_mean from './policy_loss_geo_mean.wgsl?raw'
import gpg from './policy_loss_gpg.wgsl?raw'
import gspo from './policy_loss_gspo.wgsl?raw'
import reinforce from './policy_loss_reinforce.wgsl?raw'
import sapo from './policy_loss_sapo.wgsl?raw'
import token from './policy_loss_token.wgsl?raw'
import vanilla from './policy_loss_vanilla.wgsl?raw'

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
 * read.
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
