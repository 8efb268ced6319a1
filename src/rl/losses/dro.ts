// Declares DRO: the plain policy gradient, and a square that pulls every token back to the old
// policy.
import { line } from '../math/formula.ts'
import main from './dro.wgsl?raw'
import { policyLoss } from './policy_loss.ts'
import { logRatio, tokenValues } from './response.ts'

/** d = log_prob - old_log_prob, not clamped; L = -(A log_prob - dro_beta/2 · d²); d_log_prob = -(A
 * - dro_beta · d) · pg_weight, also where A is 0. ppo_kl = mean(-d).
 *
 * Source: Richemond et al. 2024, arXiv 2405.19107; verl core_algos.py compute_policy_loss_dro. */
export const dro = policyLoss({
  name: 'dro',
  label: 'DRO (squared distance)',
  numbers: {
    dro_beta: {
      section: 'policy_loss',
      label: 'Pull',
      help: 'How strongly DRO pulls the log-prob of every token back to that of the old policy.',
      default: 0.1,
      min: 0.000001,
      max: 100,
      scale: 'log',
    },
  },
  metrics: ['actor/ppo_kl'],
  code: { main },
  rule: (row, { dro_beta }) => {
    if (!(dro_beta > 0))
      throw new RangeError(`dro_beta: expected a number above 0, got ${dro_beta}`)
    return (t) => {
      const A = row.advantages[t]
      const d = logRatio(row, t)
      return {
        loss: (dro_beta / 2) * d ** 2 - A * row.log_probs[t],
        slope: dro_beta * d - A,
        kl: -d,
      }
    }
  },
  formula: {
    lines: [
      line('log_ratio', '{log_prob} − {old_log_prob}'),
      line('loss', '0.5 · {dro_beta} · {log_ratio} · {log_ratio} − {advantage} · {log_prob}'),
    ],
    symbols: { log_ratio: 'd', dro_beta: 'β' },
    values: ({ row, t, k, loss }) => ({
      ...tokenValues(row, t),
      ...k,
      log_ratio: logRatio(row, t),
      loss,
    }),
  },
})
