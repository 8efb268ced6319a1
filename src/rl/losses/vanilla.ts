// Declares PPO's clipped loss with dual clip.
import { line } from '../math/formula.ts'
import { CLIP_RANGE, clipOf, DUAL_CLIP, RATIO, surrogates } from './clip_range.ts'
import { policyLoss } from './policy_loss.ts'
import { heldLogRatio, heldRatio, isHeld, tokenValues } from './response.ts'

const TOKEN_LOSS = /* wgsl */ `
fn token_loss(log_prob: f32, old_log_prob: f32, advantage: f32) -> TokenLoss {
  let log_ratio = log_prob - old_log_prob;
  let x = clamp(log_ratio, -20.0, 20.0);
  let ratio = ratio_of(x);
  let unclipped = -advantage * ratio;
  let clipped = -advantage * clamp(ratio, 1.0 - params.clip_ratio_low, 1.0 + params.clip_ratio_high);
  let larger = max(unclipped, clipped);
  let bound = -advantage * params.clip_ratio_c;
  let is_clipped = clipped > unclipped;
  let is_clipped_lower = advantage < 0.0 && larger > bound;
  let is_flat = is_clipped || is_clipped_lower || abs(log_ratio) > 20.0;
  return TokenLoss(
    select(larger, bound, is_clipped_lower),
    select(unclipped, 0.0, is_flat),
    vec3f(-x, select(0.0, 1.0, is_clipped), select(0.0, 1.0, is_clipped_lower)),
  );
}
`

/** x = clamp(log_prob - old_log_prob, ±20), r = exp(x), M = max(-A r, -A clamp(r, 1 - low, 1 +
 * high)); L = min(-A · clip_ratio_c, M) where A < 0, else M. d_log_prob = -A r · pg_weight, 0 where
 * a clip or the clamp is active.
 *
 * Source: Schulman et al. 2017 eq. 7, arXiv 1707.06347; dual clip Ye et al. 2020 eq. 5, arXiv
 * 1912.09729; verl verl/trainer/ppo/core_algos.py compute_policy_loss_vanilla. */
export const vanilla = policyLoss({
  name: 'vanilla',
  label: 'PPO, clipped',
  numbers: { ...CLIP_RANGE, ...DUAL_CLIP },
  metrics: ['actor/ppo_kl', 'actor/pg_clipfrac', 'actor/pg_clipfrac_lower'],
  hasLevel: 'through_ratio',
  code: { token_loss: TOKEN_LOSS },
  rule: (row, k) => (t) => {
    const A = row.advantages[t]
    const { plain, held } = surrogates(heldRatio(row, t), A, k)
    const larger = Math.max(plain, held)
    const bound = -A * k.clip_ratio_c
    const isBounded = A < 0 && larger > bound
    const clipped = isBounded ? 2 : held > plain ? 1 : 0
    const slope = clipped !== 0 || isHeld(row, t) ? 0 : plain
    return { loss: isBounded ? bound : larger, slope, kl: -heldLogRatio(row, t), clipped }
  },
  formula: {
    lines: [
      RATIO,
      line('larger', clipOf('ratio')),
      // For a bad response the loss is not let grow above −A · c.
      line('loss', 'min(−{advantage} · {clip_ratio_c}, {larger})'),
      line('plain_loss', clipOf('ratio')),
    ],
    symbols: { larger: 'M', clip_ratio_c: 'c' },
    values: ({ row, t, k, loss }) => {
      const values = { ...tokenValues(row, t), ...k }
      if (values.advantage >= 0) return { ...values, plain_loss: loss }
      const { plain, held } = surrogates(values.ratio, values.advantage, k)
      return { ...values, larger: Math.max(plain, held), loss }
    },
  },
})
