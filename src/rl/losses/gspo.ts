// Declares GSPO: PPO's clip on one ratio per response.
import { line } from '../math/formula.ts'
import { CLIP_RANGE, clipOf, surrogates } from './clip_range.ts'
import main from './gspo.wgsl?raw'
import { policyLoss } from './policy_loss.ts'
import { logRatio, meanLogRatio, tokenValues } from './response.ts'

const responseRatio = (mean_log_ratio: number): number => Math.exp(Math.min(mean_log_ratio, 10))

/** Over a row's tokens s = mean(log_prob - old_log_prob), ρ = exp(min(s, 10)); L = max(-A ρ, -A
 * clamp(ρ, 1 - low, 1 + high)) at each token; d_log_prob = -A ρ · pg_weight, 0 where clipped or s >
 * 10. ppo_kl is of the tokens, not clamped.
 *
 * Source: Zheng et al. 2025 (GSPO-token), arXiv 2507.18071; verl core_algos.py
 * compute_policy_loss_gspo. */
export const gspo = policyLoss({
  name: 'gspo',
  label: 'GSPO (one ratio per response)',
  numbers: CLIP_RANGE,
  // verl's function always reports 0 for the last.
  metrics: ['actor/ppo_kl', 'actor/pg_clipfrac', 'actor/pg_clipfrac_lower'],
  ownMean: 'seq-mean-token-mean',
  code: { main },
  rule: (row, k) => {
    const mean = meanLogRatio(row)
    return (t) => {
      const { plain, held } = surrogates(responseRatio(mean), row.advantages[t], k)
      return {
        loss: Math.max(plain, held),
        slope: held > plain || mean > 10 ? 0 : plain,
        kl: -logRatio(row, t),
        clipped: held > plain ? 1 : 0,
      }
    }
  },
  formula: {
    lines: [
      line('response_ratio', 'exp(min({mean_log_ratio}, 10))'),
      line('loss', clipOf('response_ratio')),
    ],
    symbols: { response_ratio: 'ρ', mean_log_ratio: 'mean(log π − log π_old)' },
    note: 'One ratio for the whole response: the mean is over its tokens.',
    values: ({ row, t, k, loss }) => {
      const mean_log_ratio = meanLogRatio(row)
      const response_ratio = responseRatio(mean_log_ratio)
      return { ...tokenValues(row, t), ...k, mean_log_ratio, response_ratio, loss }
    },
  },
})
