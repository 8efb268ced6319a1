// Declares SPPO: log ratios are pulled to the pay-off of a game between policies.
import { eachPair, pairedLoss } from './preference_loss.ts'

/** L = (r_c − 1/(2b))² + (r_r + 1/(2b))². Source: Wu 2024, arXiv 2405.00675; trl dpo_trainer.py. */
export const sppo_hard = pairedLoss({
  name: 'sppo_hard',
  label: 'SPPO, hard labels',
  help: 'Pulls the log ratio of the better answer to 1/(2 beta) and that of the worse one to −1/(2 beta).',
  formula: '(r_c − 1/(2β))² + (r_r + 1/(2β))²',
  numbers: ['beta'],
  trl: { trainer: 'DPOTrainer', loss_type: 'sppo_hard' },
  score: 'ratio',
  rule: eachPair(({ chosen, rejected }, { beta }) => {
    const [c, r] = [chosen.score - 1 / (2 * beta), rejected.score + 1 / (2 * beta)]
    return { loss: c * c + r * r, d_chosen: 2 * c, d_rejected: 2 * r }
  }),
})
