// Declares VESPO: the ratio of the whole response is a smooth weight, and nothing is clipped.
import { line } from '../math/formula.ts'
import { policyLoss, type ValuesOf } from './policy_loss.ts'
import { clamp, heldLogRatio, logRatio, type ResponseTokens, tokenValues } from './response.ts'
import main from './vespo.wgsl?raw'

const LEAST_LOG = Math.log(1e-8)
const MOST_LOG = 20

/** One of the four numbers of the weight. */
const weightNumber = (trl: string, label: string, help: string, value: number, min: number) =>
  ({
    section: 'policy_loss',
    label,
    help,
    default: value,
    min,
    max: 10,
    step: 0.1,
    elsewhere: { trl, lost: 'it has no loss vespo' },
  }) as const

const NUMBERS = {
  vespo_k_pos: weightNumber(
    'vespo_k_pos',
    'Power, good responses',
    'How fast VESPO’s weight of a response with a positive advantage rises with its ratio.',
    2,
    0,
  ),
  vespo_lambda_pos: weightNumber(
    'vespo_lambda_pos',
    'Decay, good responses',
    'How soon VESPO’s weight of a response with a positive advantage falls again as its ratio grows.',
    3,
    0.1,
  ),
  vespo_k_neg: weightNumber(
    'vespo_k_neg',
    'Power, bad responses',
    'How fast VESPO’s weight of a response with a negative advantage rises with its ratio.',
    3,
    0,
  ),
  vespo_lambda_neg: weightNumber(
    'vespo_lambda_neg',
    'Decay, bad responses',
    'How soon VESPO’s weight of a response with a negative advantage falls again as its ratio grows.',
    2,
    0.1,
  ),
}
type Numbers = ValuesOf<typeof NUMBERS>

/** The log ratio of the whole response, with the weights of rollout correction in it. */
function responseLogRatio(row: ResponseTokens): number {
  const { response_mask, rollout_is_weights } = row
  let sum = 0
  for (let t = 0; t < response_mask.length; t++) {
    if (response_mask[t] === 0) continue
    sum += heldLogRatio(row, t)
    if (rollout_is_weights) sum += clamp(Math.log(rollout_is_weights[t]), LEAST_LOG, MOST_LOG)
  }
  return clamp(sum, LEAST_LOG, MOST_LOG)
}

const bySign = (A: number, n: Numbers) =>
  A >= 0
    ? { power: n.vespo_k_pos, decay: n.vespo_lambda_pos }
    : { power: n.vespo_k_neg, decay: n.vespo_lambda_neg }

const weightOf = (q: number, { power, decay }: ReturnType<typeof bySign>): number =>
  Math.exp(power * q - decay * (Math.exp(q) - 1))

/** Over a row's tokens q = Σ clamp(log_prob - old_log_prob, ±20) + Σ log(rollout_is_weight), held
 * within [log 1e-8, 20]; φ = exp(λ + k q - λ e^q) with k and λ by the sign of A, held constant; L =
 * -φ A log_prob and d_log_prob = -φ A · weight at each token, where the weight is without
 * rollout_is_weights. φ is 1 at an unchanged policy. ppo_kl is of the tokens, not clamped.
 *
 * Source: TRL 1.13 GRPOTrainer._compute_loss, loss_type "vespo" (get_gamma_weights). */
export const vespo = policyLoss({
  name: 'vespo',
  label: 'VESPO (smooth weight per response; TRL: loss_type vespo)',
  numbers: NUMBERS,
  metrics: ['actor/ppo_kl'],
  holdsWeights: 'token',
  code: { main },
  rule: (row, k) => {
    const q = responseLogRatio(row)
    return (t) => {
      const A = row.advantages[t]
      const slope = A === 0 ? 0 : -A * weightOf(q, bySign(A, k))
      return { loss: slope * row.log_probs[t], slope, kl: -logRatio(row, t) }
    }
  },
  formula: {
    lines: [
      line(
        'response_weight',
        'exp({power} · {response_log_ratio} − {decay} · (exp({response_log_ratio}) − 1))',
      ),
      line('loss', '−{response_weight} · {advantage} · {log_prob}'),
    ],
    symbols: {
      response_weight: 'φ',
      response_log_ratio: 'Σ(log π − log π_old)',
      power: 'k',
      decay: 'λ',
    },
    note: 'One weight for the whole response, a constant here: the gradient flows through log π alone.',
    values: ({ row, t, k, loss }) => {
      const own = bySign(row.advantages[t], k)
      const response_log_ratio = responseLogRatio(row)
      const response_weight = weightOf(response_log_ratio, own)
      return { ...tokenValues(row, t), ...own, response_log_ratio, response_weight, loss }
    },
  },
})
