// Declares SAPO: a soft gate in place of the clip.
import { line } from '../math/formula.ts'
import { RATIO } from './clip_range.ts'
import { policyLoss } from './policy_loss.ts'
import { heldLogRatio, heldRatio, isHeld, tokenValues } from './response.ts'

// With e = exp(-|z|) neither tail of the sigmoid overflows or cancels; below exp(-80) nothing is
// left in f32.
const TOKEN_LOSS = /* wgsl */ `
fn token_loss(log_prob: f32, old_log_prob: f32, advantage: f32) -> TokenLoss {
  let log_ratio = log_prob - old_log_prob;
  let x = clamp(log_ratio, -20.0, 20.0);
  let ratio = ratio_of(x);
  let tau = select(params.tau_neg, params.tau_pos, advantage > 0.0);
  let z = tau * (ratio - 1.0);
  let e = ratio_of(-min(abs(z), 80.0));
  let gate = select(e, 1.0, z >= 0.0) / (1.0 + e);
  let slope = -4.0 * advantage * (e / ((1.0 + e) * (1.0 + e))) * ratio;
  return TokenLoss(
    -advantage * gate * 4.0 / tau,
    select(slope, 0.0, abs(log_ratio) > 20.0),
    vec3f(-x, 0.0, 0.0),
  );
}
`

const tauOf = (A: number, k: { readonly tau_pos: number; readonly tau_neg: number }): number =>
  A > 0 ? k.tau_pos : k.tau_neg
const gateOf = (tau: number, ratio: number): number => 1 / (1 + Math.exp(-tau * (ratio - 1)))

/** x = clamp(log_prob - old_log_prob, ±20), r = exp(x), τ = tau_pos where A > 0, else tau_neg, σ =
 * sigmoid(τ (r - 1)); L =
 * -A σ · 4/τ; d_log_prob = -4 A σ (1 - σ) r · pg_weight, 0 where x is clamped: exactly -A ·
 * pg_weight at r = 1. No clip.
 *
 * Source: Gao et al. 2025, arXiv 2511.20347; verl core_algos.py compute_policy_loss_sapo. */
export const sapo = policyLoss({
  name: 'sapo',
  label: 'SAPO (soft gate)',
  numbers: {
    tau_pos: {
      section: 'actor',
      label: 'Gate, good tokens',
      help: 'How sharply SAPO closes its gate for tokens with a positive advantage as the ratio leaves 1.',
      default: 1,
      min: 0.01,
      max: 100,
      scale: 'log',
    },
    tau_neg: {
      section: 'actor',
      label: 'Gate, bad tokens',
      help: 'How sharply SAPO closes its gate for tokens with a negative advantage as the ratio leaves 1.',
      default: 1.05,
      min: 0.01,
      max: 100,
      scale: 'log',
    },
  },
  // verl's function always reports 0 for the last two.
  metrics: ['actor/ppo_kl', 'actor/pg_clipfrac', 'actor/pg_clipfrac_lower'],
  ownMean: 'seq-mean-token-mean',
  hasLevel: 'through_ratio',
  code: { token_loss: TOKEN_LOSS },
  rule: (row, k) => (t) => {
    const A = row.advantages[t]
    const ratio = heldRatio(row, t)
    const tau = tauOf(A, k)
    const gate = gateOf(tau, ratio)
    const slope = isHeld(row, t) ? 0 : -4 * A * gate * (1 - gate) * ratio
    return { loss: (-A * gate * 4) / tau, slope, kl: -heldLogRatio(row, t) }
  },
  formula: {
    lines: [
      RATIO,
      line('gate', 'sigmoid({tau} · ({ratio} − 1))'),
      line('loss', '−{advantage} · {gate} · 4 / {tau}'),
    ],
    symbols: { gate: 'σ', tau: 'τ' },
    values: ({ row, t, k, loss }) => {
      const values = tokenValues(row, t)
      const tau = tauOf(values.advantage, k)
      return { ...values, tau, gate: gateOf(tau, values.ratio), loss }
    },
  },
})
