// Declares GPG: the plain policy gradient, with no old policy at all.
import { line } from '../math/formula.ts'
import { policyLoss } from './policy_loss.ts'
import { logRatio, tokenValues } from './response.ts'

const TOKEN_LOSS = /* wgsl */ `
fn token_loss(log_prob: f32, old_log_prob: f32, advantage: f32) -> TokenLoss {
  return TokenLoss(-advantage * log_prob, -advantage, vec3f());
}
`

/** L = -A log_prob; d_log_prob = -A · pg_weight. old_log_probs are not used; no metrics.
 *
 * Source: Chu et al. 2025, arXiv 2504.02546; verl core_algos.py compute_policy_loss_gpg. */
export const gpg = policyLoss({
  name: 'gpg',
  label: 'GPG (no ratio)',
  numbers: {},
  metrics: [],
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
