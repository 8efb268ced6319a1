// Declares CISPO: the clipped ratio is a weight, not a gate.
import { line } from '../math/formula.ts'
import { CLIP_RANGE, RATIO, surrogates } from './clip_range.ts'
import { policyLoss } from './policy_loss.ts'
import { heldLogRatio, heldRatio, tokenValues } from './response.ts'

const TOKEN_LOSS = /* wgsl */ `
fn token_loss(log_prob: f32, old_log_prob: f32, advantage: f32) -> TokenLoss {
  let x = clamp(log_prob - old_log_prob, -20.0, 20.0);
  let ratio = ratio_of(x);
  let clipped = clamp(ratio, 1.0 - params.clip_ratio_low, 1.0 + params.clip_ratio_high);
  let slope = -clipped * advantage;
  return TokenLoss(slope * log_prob, slope, vec3f(-x, select(0.0, 1.0, ratio != clipped), 0.0));
}
`

/** x = clamp(log_prob - old_log_prob, ±20), c = clamp(exp(x), 1 - low, 1 + high) held constant; L =
 * -c A log_prob; d_log_prob = -c A · pg_weight, everywhere. pg_clipfrac counts exp(x) outside the
 * range.
 *
 * Source: MiniMax 2025, arXiv 2506.13585; verl core_algos.py compute_policy_loss_cispo. */
export const cispo = policyLoss({
  name: 'cispo',
  label: 'CISPO (clipped weights)',
  numbers: CLIP_RANGE,
  // verl's function always reports 0 for the last.
  metrics: ['actor/ppo_kl', 'actor/pg_clipfrac', 'actor/pg_clipfrac_lower'],
  hasLevel: 'held_ratio',
  code: { token_loss: TOKEN_LOSS },
  rule: (row, k) => (t) => {
    const A = row.advantages[t]
    const ratio = heldRatio(row, t)
    const { clipped_ratio } = surrogates(ratio, A, k)
    return {
      loss: -clipped_ratio * A * row.log_probs[t],
      slope: -clipped_ratio * A,
      kl: -heldLogRatio(row, t),
      clipped: clipped_ratio === ratio ? 0 : 1,
    }
  },
  formula: {
    lines: [
      RATIO,
      line('held_ratio', 'clip({ratio}, 1 − {clip_ratio_low}, 1 + {clip_ratio_high})'),
      line('loss', '−{held_ratio} · {advantage} · {log_prob}'),
    ],
    symbols: { held_ratio: 'c' },
    note: 'The clipped ratio is a constant here: the gradient flows through log π alone.',
    values: ({ row, t, k, loss }) => {
      const values = tokenValues(row, t)
      const held_ratio = surrogates(values.ratio, values.advantage, k).clipped_ratio
      return { ...values, ...k, held_ratio, loss }
    },
  },
})
