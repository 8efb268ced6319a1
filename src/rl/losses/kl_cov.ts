// Declares KL-Cov: the ratio without any clip, and a penalty where log-prob and advantage vary
// together most: there entropy is lost.
import { line } from '../math/formula.ts'
import choose from './choose.wgsl?raw'
import chosen from './chosen.wgsl?raw'
import { RATIO } from './clip_range.ts'
import { covariances, covRatio, largest, selectCount, unmasked } from './cov.ts'
import pass from './kl_cov.wgsl?raw'
import key from './kl_cov_key.wgsl?raw'
import { policyLoss } from './policy_loss.ts'
import { isChosen, logRatio, tokenValues } from './response.ts'

/** kl_cov must find as many tokens as it chooses. */
function count({ kl_cov_ratio }: { readonly kl_cov_ratio: number }, tokenCount: number): number {
  if (kl_cov_ratio > 1)
    throw new RangeError(`kl_cov_ratio: expected at most 1, got ${kl_cov_ratio}`)
  return selectCount('kl_cov_ratio', kl_cov_ratio, tokenCount)
}

/** L = -A r, r = exp(x), x = log_prob - old_log_prob, r held at e^80 on the GPU; at the
 * select_count unmasked tokens with the largest (A - mean A)(log_prob - mean log_prob) also +
 * ppo_kl_coef |x|, whose gradient is ppo_kl_coef sign(x). Ties go to the lowest index. ppo_kl =
 * mean |x|, no clip fractions. The kernel uses d_log_probs as scratch, too.
 *
 * Source: Cui et al. 2025, arXiv 2505.22617; verl core_algos.py compute_policy_loss_kl_cov. */
export const kl_cov = policyLoss({
  name: 'kl_cov',
  label: 'KL-Cov',
  numbers: {
    kl_cov_ratio: covRatio(
      'How many tokens of a micro-batch KL-Cov penalises: those of the largest covariance, at least one.',
    ),
    ppo_kl_coef: {
      section: 'policy_loss',
      label: 'Penalty',
      help: 'Weight of the KL penalty that KL-Cov puts on those tokens.',
      default: 0.1,
      min: 0,
      max: 100,
      step: 0.1,
    },
  },
  metrics: ['actor/ppo_kl'],
  code: { main: pass + key + choose },
  choice: {
    main: chosen + key + choose,
    count,
    chosen: (batch, k) => {
      const valid = unmasked(batch.response_mask)
      const cov = covariances(batch, valid, 0)
      return largest(valid, (i) => cov[i], count(k, valid.length))
    },
  },
  rule: (row, k) => (t) => {
    const x = logRatio(row, t)
    const unclipped = -row.advantages[t] * Math.exp(x)
    const penalty = isChosen(row, t) ? k.ppo_kl_coef : 0
    return {
      loss: unclipped + penalty * Math.abs(x),
      slope: unclipped + penalty * Math.sign(x),
      kl: Math.abs(x),
    }
  },
  formula: {
    lines: [
      RATIO,
      line('loss', '−{advantage} · {ratio} + {ppo_kl_coef} · |{log_prob} − {old_log_prob}|'),
      line('plain_loss', '−{advantage} · {ratio}'),
    ],
    symbols: { ppo_kl_coef: 'β_x' },
    note: 'The few tokens of the micro-batch whose log-prob and advantage vary together most pay for moving: the column “chosen” says which.',
    values: ({ row, t, k, loss }) => ({
      ...tokenValues(row, t),
      ...k,
      ratio: Math.exp(logRatio(row, t)),
      ...(isChosen(row, t) ? { loss } : { plain_loss: loss }),
    }),
  },
})
