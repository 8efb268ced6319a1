// Declares TOPR: good responses are imitated whatever their ratio, bad ones are pushed away less
// the rarer they have become.
import { line } from '../math/formula.ts'
import { RATIO } from './clip_range.ts'
import { policyLoss } from './policy_loss.ts'
import { heldLogRatio, heldRatio, isHeld, tokenValues } from './response.ts'

const TOKEN_LOSS = /* wgsl */ `
// A >= 0: L = -A log_prob.
// A < 0: x = clamp(log_prob - old_log_prob, ±20), r = exp(x), c = topr_max_ratio;
//   L = -A r up to c, and beyond -A c (1 + x - log c), so that its slope is -A min(r, c).
fn token_loss(log_prob: f32, old_log_prob: f32, advantage: f32) -> TokenLoss {
  let log_ratio = log_prob - old_log_prob;
  let x = clamp(log_ratio, -20.0, 20.0);
  if (advantage >= 0.0) { return TokenLoss(-advantage * log_prob, -advantage, vec3f(-x, 0.0, 0.0)); }
  let ratio = ratio_of(x);
  let most = params.topr_max_ratio;
  let is_clipped = ratio > most;
  let loss = -advantage * select(ratio, most * (1.0 + x - log(most)), is_clipped);
  let slope = select(-advantage * min(ratio, most), 0.0, abs(log_ratio) > 20.0);
  return TokenLoss(loss, slope, vec3f(-x, select(0.0, 1.0, is_clipped), 0.0));
}
`

/** Source: Le Roux et al. 2025, arXiv 2503.14286, the canonical taper; its ratio is of responses,
 * this one of tokens. */
export const topr = policyLoss({
  name: 'topr',
  label: 'TOPR (tapered)',
  numbers: {
    topr_max_ratio: {
      section: 'policy_loss',
      label: 'Largest ratio',
      help: 'The ratio above which TOPR pushes a bad token away no harder.',
      default: 1,
      min: 0.01,
      max: 10,
      step: 0.1,
    },
  },
  metrics: ['actor/ppo_kl', 'actor/pg_clipfrac'],
  code: { token_loss: TOKEN_LOSS },
  rule:
    (row, { topr_max_ratio: most }) =>
    (t) => {
      const A = row.advantages[t]
      const x = heldLogRatio(row, t)
      if (A >= 0) return { loss: -A * row.log_probs[t], slope: -A, kl: -x, clipped: 0 }
      const ratio = heldRatio(row, t)
      const isClipped = ratio > most
      return {
        loss: -A * (isClipped ? most * (1 + x - Math.log(most)) : ratio),
        slope: isHeld(row, t) ? 0 : -A * Math.min(ratio, most),
        kl: -x,
        clipped: isClipped ? 1 : 0,
      }
    },
  formula: {
    lines: [
      line('plain_loss', '−{advantage} · {log_prob}'),
      RATIO,
      line('loss', '−{advantage} · {ratio}'),
      line('tapered', '−{advantage} · {most} · (1 + {log_prob} − {old_log_prob} − {log_most})'),
    ],
    symbols: { most: 'r_max', log_most: 'log r_max', tapered: 'L' },
    values: ({ row, t, k, loss }) => {
      const { ratio, ...values } = tokenValues(row, t)
      if (values.advantage >= 0) return { ...values, plain_loss: loss }
      const most = k.topr_max_ratio
      if (ratio <= most) return { ...values, ratio, loss }
      return { ...values, most, log_most: Math.log(most), tapered: loss }
    },
  },
})
