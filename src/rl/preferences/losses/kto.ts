// Declares KTO: single verdicts, weighed as people weigh gains and losses.
import { logistic } from '../../math/logistic.ts'
import { unpairedLoss } from './preference_loss.ts'
import type { PreferenceValues } from './preference_numbers.ts'

/** The loss of an answer whose reward is compared with `kl`. */
export function prospectLoss(
  { score, kl, is_desirable }: { score: number; kl: number; is_desirable: boolean },
  { beta, desirable_weight, undesirable_weight }: PreferenceValues,
) {
  const s = logistic(beta * (is_desirable ? score - kl : kl - score))
  const weight = is_desirable ? desirable_weight : undesirable_weight
  const slope = beta * s * (1 - s) * weight
  return { loss: weight * (1 - s), d_score: is_desirable ? -slope : slope }
}

/** kl = max(0, mean of policy − reference over mismatched pairs), a constant. Desirable: w_d (1 −
 * σ(b (r − kl))), undesirable: w_u (1 − σ(b (kl − r))).
 *
 * Source: Ethayarajh 2024, arXiv 2402.01306; trl kto_trainer.py. */
export const kto = unpairedLoss({
  name: 'kto',
  label: 'KTO',
  help: 'Learns from answers that are each liked or disliked, without pairs.',
  formula:
    'w · (1 − σ(±β (r − KL))), + and w = w_d for a liked answer, − and w = w_u for a disliked one',
  numbers: ['beta', 'desirable_weight', 'undesirable_weight'],
  trl: { trainer: 'KTOTrainer', loss_type: 'kto' },
  hasKl: true,
  rule: prospectLoss,
})
