// Declares BCO: a classifier of single answers, whose logit is the reward.
import { logistic, logLogistic } from '../../math/logistic.ts'
import { eachPair, pairedLoss } from './preference_loss.ts'

/** L = −log σ(b r_c) − log σ(−b r_r), without a running mean. Source: Jung 2024, arXiv 2404.04656;
 * trl dpo_trainer.py. */
export const bco_pair = pairedLoss({
  name: 'bco_pair',
  label: 'BCO',
  help: 'Classifies answers as good or bad by their own reward.',
  formula: '−log σ(β r_c) − log σ(−β r_r)',
  numbers: ['beta'],
  trl: { trainer: 'DPOTrainer', loss_type: 'bco_pair' },
  score: 'ratio',
  rule: eachPair(({ chosen, rejected }, { beta }) => {
    const [c, r] = [beta * chosen.score, beta * rejected.score]
    return {
      loss: -logLogistic(c) - logLogistic(-r),
      d_chosen: -beta * logistic(-c),
      d_rejected: beta * logistic(r),
    }
  }),
})
