// Declares APO-zero: the better answer up, the worse one down.
import { logistic } from '../../math/logistic.ts'
import { eachPair, pairedLoss } from './preference_loss.ts'

/** L = 1 − σ(b r_c) + σ(b r_r). Source: D'Oosterlinck 2024, arXiv 2408.06266 eq. 7; trl
 * dpo_trainer.py. */
export const apo_zero = pairedLoss({
  name: 'apo_zero',
  label: 'APO-zero',
  help: 'Raises the better answer and lowers the worse one, for pairs that are better than what the policy writes.',
  formula: '1 − σ(β r_c) + σ(β r_r)',
  numbers: ['beta'],
  trl: { trainer: 'DPOTrainer', loss_type: 'apo_zero' },
  score: 'ratio',
  rule: eachPair(({ chosen, rejected }, { beta }) => {
    const [c, r] = [logistic(beta * chosen.score), logistic(beta * rejected.score)]
    return { loss: 1 - c + r, d_chosen: -beta * c * (1 - c), d_rejected: beta * r * (1 - r) }
  }),
})
