// The two losses that hold back the few tokens whose log-prob and advantage vary together most: those drain the entropy.
import type { LossMode } from '../loss_modes.ts'
import { type PolicyLossKernel, policyLoss } from '../policy_loss_frame.ts'
import clip_cov from './policy_loss_clip_cov.wgsl?raw'
import clip_cov_key from './policy_loss_clip_cov_key.wgsl?raw'
import choose from './policy_loss_cov.wgsl?raw'
import chosen from './policy_loss_cov_chosen.wgsl?raw'
import kl_cov from './policy_loss_kl_cov.wgsl?raw'
import kl_cov_key from './policy_loss_kl_cov_key.wgsl?raw'

/**
 * Clip-Cov: PPO's clip (no dual clip, log ratio not clamped), and no loss at some tokens of high covariance.
 *
 * L = corr · max(-A r, -A clamp(r, 1 - low, 1 + high)), r = exp(log_prob - old_log_prob), held at e^80. Candidates are unmasked,
 * not clipped already and have clip_cov_lb < (A - mean A)(log_prob - mean log_prob) < clip_cov_ub, means over the unmasked
 * tokens of this call. min(candidates, select_count) of them, drawn without replacement by `seed` and index, get corr = 0:
 * no loss, no gradient, the divisor stays. pg_clipfrac counts them; ppo_kl = mean(-x). d_log_probs also serves as scratch.
 *
 * Source: Cui et al. 2025, arXiv 2505.22617; verl core_algos.py compute_policy_loss_clip_cov. verl draws by torch.randperm,
 * so the tokens differ from a run of verl where there are more candidates than select_count.
 */
export const policy_loss_clip_cov = policyLoss(
  'policy_loss_clip_cov',
  clip_cov + clip_cov_key + choose,
)

/**
 * KL-Cov: the ratio without any clip, and a penalty where the covariance is highest.
 *
 * L = -A r, r = exp(x), x = log_prob - old_log_prob, r held at e^80; at the select_count unmasked tokens with the largest
 * (A - mean A)(log_prob - mean log_prob) also + ppo_kl_coef |x|, whose gradient is ppo_kl_coef sign(x). Ties go to the lowest
 * index. ppo_kl = mean |x|, no clip fractions. d_log_probs also serves as scratch.
 *
 * Source: Cui et al. 2025, arXiv 2505.22617; verl core_algos.py compute_policy_loss_kl_cov.
 */
export const policy_loss_kl_cov = policyLoss('policy_loss_kl_cov', kl_cov + kl_cov_key + choose)

/**
 * The choice of each of the two alone, made as the loss makes it: with the inputs and params of its call, d_log_probs becomes 1
 * at the tokens that it chose and 0 at all others; sums stay as they are. Undefined for losses that choose none.
 */
export const POLICY_LOSS_CHOICES: Readonly<Partial<Record<LossMode, PolicyLossKernel>>> = {
  clip_cov: policyLoss('policy_loss_clip_cov_chosen', chosen + clip_cov_key + choose),
  kl_cov: policyLoss('policy_loss_kl_cov_chosen', chosen + kl_cov_key + choose),
}

/**
 * How many tokens clip_cov or kl_cov chooses among `token_count` unmasked ones: max(1, ratio · token_count rounded down), 0
 * without tokens and for other losses. Doubles, as in Python, so the product rounds alike. Throws a RangeError unless the
 * ratio is above 0, and for kl_cov, which must find that many tokens, at most 1.
 */
export function selectCount(
  loss_mode: LossMode,
  ratios: { readonly clip_cov_ratio: number; readonly kl_cov_ratio: number },
  token_count: number,
): number {
  if (loss_mode !== 'clip_cov' && loss_mode !== 'kl_cov') return 0
  const name = `${loss_mode}_ratio` as const
  const ratio = ratios[name]
  if (!(ratio > 0)) throw new RangeError(`${name}: expected a number above 0, got ${ratio}`)
  if (loss_mode === 'kl_cov' && ratio > 1)
    throw new RangeError(`${name}: expected at most 1, got ${ratio}`)
  return token_count === 0 ? 0 : Math.max(1, Math.trunc(ratio * token_count))
}
