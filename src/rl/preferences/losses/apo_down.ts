// Declares APO-down: both answers down, the worse one more.
import { logistic } from '../../math/logistic.ts'
import { eachPair, pairedLoss } from './preference_loss.ts'

/** L = σ(b r_c) + 1 − σ(b (r_c − r_r)). Source: D'Oosterlinck 2024, arXiv 2408.06266 eq. 8; trl
 * dpo_trainer.py. */
export const apo_down = pairedLoss({
  name: 'apo_down',
  label: 'APO-down',
  help: 'Lowers both answers, the worse one more, for pairs that are worse than what the policy writes.',
  formula: 'σ(β r_c) + 1 − σ(β d)',
  numbers: ['beta'],
  trl: { trainer: 'DPOTrainer', loss_type: 'apo_down' },
  score: 'ratio',
  rule: eachPair(({ chosen, rejected }, { beta }) => {
    const c = logistic(beta * chosen.score)
    const d = logistic(beta * (chosen.score - rejected.score))
    const ofMargin = beta * d * (1 - d)
    return { loss: c + 1 - d, d_chosen: beta * c * (1 - c) - ofMargin, d_rejected: ofMargin }
  }),
})
