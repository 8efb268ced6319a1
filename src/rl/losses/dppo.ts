// Declares DPPO: a token is left out where its probability has moved too far, measured as a
// divergence and not as a ratio.
import { line } from '../math/formula.ts'
import { CLIP_RANGE, DUAL_CLIP, RATIO } from './clip_range.ts'
import { type PolicyLoss, policyLoss, type ValuesOf } from './policy_loss.ts'
import { heldLogRatio, heldRatio, type ResponseTokens, tokenValues } from './response.ts'

const NUMBERS = { ...CLIP_RANGE, ...DUAL_CLIP }
type Numbers = ValuesOf<typeof NUMBERS>

/** x = clamp(log_prob - old_log_prob, ±20), w = min(exp(x), clip_ratio_c), a constant to the
 * gradient; L = -w A · log_prob where the token is kept, else 0; dL/dlog_prob = -w A there.
 * `decision` is `is_kept` of the shader, from the tokens' probabilities p and q of the new and the
 * old policy. */
const tokenLossOf = (decision: string) => /* wgsl */ `
fn token_loss(log_prob: f32, old_log_prob: f32, advantage: f32) -> TokenLoss {
  let x = clamp(log_prob - old_log_prob, -20.0, 20.0);
  let ratio = ratio_of(x);
  let p = exp(log_prob);
  let q = exp(old_log_prob);
${decision}
  let slope = select(0.0, -min(ratio, params.clip_ratio_c) * advantage, is_kept);
  let is_held = is_kept && ratio > params.clip_ratio_c;
  return TokenLoss(slope * log_prob, slope, vec3f(-x, select(1.0, 0.0, is_kept), select(0.0, 1.0, is_held)));
}
`

const KEPT_BY_TV = /* wgsl */ `  let change = p - q;
  let is_kept = select(change >= -params.clip_ratio_low, change <= params.clip_ratio_high, advantage > 0.0);`

const KEPT_BY_KL = /* wgsl */ `  let kl = q * (old_log_prob - log_prob) + (1.0 - q) * log((1.0 - q + 1e-8) / (1.0 - p + 1e-8));
  let is_kept = select(
    kl <= params.clip_ratio_low || p >= q,
    kl <= params.clip_ratio_high || p <= q,
    advantage > 0.0,
  );`

/** The difference of a token's probabilities. */
function keptByTv(logProb: number, oldLogProb: number, A: number, k: Numbers): boolean {
  const change = Math.exp(logProb) - Math.exp(oldLogProb)
  return A > 0 ? change <= k.clip_ratio_high : change >= -k.clip_ratio_low
}

/** The KL of the two policies that only ask whether it is this token; what moves back is kept. */
function keptByKl(logProb: number, oldLogProb: number, A: number, k: Numbers): boolean {
  const [p, q] = [Math.exp(logProb), Math.exp(oldLogProb)]
  const rest = (1 - q) * Math.log((1 - q + 1e-8) / (1 - p + 1e-8))
  const kl = q * (oldLogProb - logProb) + rest
  return A > 0 ? kl <= k.clip_ratio_high || p <= q : kl <= k.clip_ratio_low || p >= q
}

type Rest = Pick<PolicyLoss<string, typeof NUMBERS>, 'numbers' | 'metrics' | 'rule' | 'formula'>

/** What the two have in common. */
function dppo(isKept: typeof keptByTv, note: string): Rest {
  const kept = (row: ResponseTokens, t: number, k: Numbers) =>
    isKept(row.log_probs[t], row.old_log_probs[t], row.advantages[t], k)
  return {
    numbers: NUMBERS,
    metrics: ['actor/ppo_kl', 'actor/pg_clipfrac', 'actor/pg_clipfrac_lower'],
    rule: (row, k) => (t) => {
      const isCounted = kept(row, t, k)
      const ratio = heldRatio(row, t)
      const slope = isCounted ? -row.advantages[t] * Math.min(ratio, k.clip_ratio_c) : 0
      return {
        loss: slope * row.log_probs[t],
        slope,
        kl: -heldLogRatio(row, t),
        clipped: isCounted ? (ratio > k.clip_ratio_c ? 2 : 0) : 1,
      }
    },
    formula: {
      lines: [
        RATIO,
        line('held_ratio', 'min({ratio}, {clip_ratio_c})'),
        line('loss', '−{held_ratio} · {advantage} · {log_prob}'),
        line('no_loss', '0'),
      ],
      symbols: { held_ratio: 'w', clip_ratio_c: 'c', no_loss: 'L' },
      note,
      values: ({ row, t, k, loss }) => {
        if (!kept(row, t, k)) return { no_loss: 0 }
        const values = tokenValues(row, t)
        const { clip_ratio_c } = k
        return { ...values, clip_ratio_c, held_ratio: Math.min(values.ratio, clip_ratio_c), loss }
      },
    },
  }
}

/** x = clamp(log_prob - old_log_prob, ±20), w = min(exp(x), clip_ratio_c) held constant; L = -w A
 * log_prob and d_log_prob = -w A · pg_weight where the token is kept, else 0. Kept: p - q ≤
 * clip_ratio_high where A > 0, else p - q ≥ -clip_ratio_low, with the token's probabilities p now
 * and q before. pg_clipfrac counts what is not kept, pg_clipfrac_lower a w that is held.
 *
 * Source: arXiv 2602.04879; verl core_algos.py compute_policy_loss_dppo_tv. */
export const dppo_tv = policyLoss({
  name: 'dppo_tv',
  label: 'DPPO, total variation',
  code: { token_loss: tokenLossOf(KEPT_BY_TV) },
  ...dppo(
    keptByTv,
    'Left out where the probability itself has moved by more than ε_high upwards for a good token, or ε_low downwards for a bad one. w is a constant here.',
  ),
})

/** The same, kept where KL = q (log q - log p) + (1 - q) log((1 - q + 1e-8) / (1 - p + 1e-8)) ≤
 * clip_ratio_high or p ≤ q for A > 0, else where KL ≤ clip_ratio_low or p ≥ q.
 *
 * Source: arXiv 2602.04879; verl core_algos.py compute_policy_loss_dppo_kl. */
export const dppo_kl = policyLoss({
  name: 'dppo_kl',
  label: 'DPPO, KL',
  code: { token_loss: tokenLossOf(KEPT_BY_KL) },
  ...dppo(
    keptByKl,
    'Left out where the token moves further and its KL to the old policy is above ε_high for a good token, or ε_low for a bad one. w is a constant here.',
  ),
})
