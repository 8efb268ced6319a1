// Declares REINFORCE with the weights of rollout correction, which bypass mode can choose.
import { line } from '../math/formula.ts'
import { policyLoss } from './policy_loss.ts'
import { logRatio, tokenValues } from './response.ts'

const TOKEN_LOSS = /* wgsl */ `
fn token_loss(log_prob: f32, old_log_prob: f32, advantage: f32) -> TokenLoss {
  return TokenLoss(-advantage * log_prob, -advantage, vec3f(old_log_prob - log_prob, 0.0, 0.0));
}
`

/** L = -A log_prob · w, w in pg_weights; d_log_prob = -A · pg_weight. old_log_probs (the rollout's)
 * are for ppo_kl = mean(old_log_prob - log_prob) only.
 *
 * Source: Williams 1992; verl core_algos.py compute_policy_loss_reinforce. */
export const reinforce = policyLoss({
  name: 'reinforce',
  label: 'REINFORCE',
  numbers: {},
  metrics: ['actor/ppo_kl'],
  code: { token_loss: TOKEN_LOSS },
  rule: (row) => (t) => {
    const A = row.advantages[t]
    return { loss: -A * row.log_probs[t], slope: -A, kl: -logRatio(row, t) }
  },
  formula: {
    lines: [line('loss', '−{advantage} · {log_prob}')],
    values: ({ row, t, loss }) => ({ ...tokenValues(row, t), loss }),
  },
})
