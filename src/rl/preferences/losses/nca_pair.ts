// Declares NCA: the reward of each answer by itself, so that the better one does not fall.
import { logistic, logLogistic } from '../../math/logistic.ts'
import { eachPair, pairedLoss } from './preference_loss.ts'

/** L = −log σ(b r_c) − ½ log σ(−b r_c) − ½ log σ(−b r_r). Source: Chen 2024, arXiv 2402.05369; trl
 * dpo_trainer.py. */
export const nca_pair = pairedLoss({
  name: 'nca_pair',
  label: 'NCA',
  help: 'Looks at the reward of each answer and not at their margin, so that the better one is kept from falling.',
  formula: '−log σ(β r_c) − ½ log σ(−β r_c) − ½ log σ(−β r_r)',
  numbers: ['beta'],
  trl: { trainer: 'DPOTrainer', loss_type: 'nca_pair' },
  score: 'ratio',
  rule: eachPair(({ chosen, rejected }, { beta }) => {
    const [c, r] = [beta * chosen.score, beta * rejected.score]
    return {
      loss: -logLogistic(c) - (logLogistic(-c) + logLogistic(-r)) / 2,
      d_chosen: beta * (logistic(c) / 2 - logistic(-c)),
      d_rejected: (beta * logistic(r)) / 2,
    }
  }),
})
