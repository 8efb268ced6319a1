// Declares CPO with the square of IPO.
import { squaredMargin } from './margins.ts'
import { ofMargin, pairedLoss } from './preference_loss.ts'

/** z = p_c − p_r of means: L = (z − 1/(2b))² + cpo_alpha · NLL of the chosen completions. Source:
 * trl cpo_trainer.py. */
export const cpo_ipo = pairedLoss({
  name: 'cpo_ipo',
  label: 'CPO, IPO',
  help: 'CPO that pulls the margin per token to 1/(2 beta).',
  formula: '(z − 1/(2β))² + α_CPO · NLL(chosen), z = mean log π_c − mean log π_r',
  numbers: ['beta', 'cpo_alpha', 'alpha'],
  trl: { trainer: 'CPOTrainer', loss_type: 'ipo' },
  score: 'mean',
  nll: ({ cpo_alpha }) => ({ weight: cpo_alpha, over: 'completion' }),
  rule: ofMargin(squaredMargin),
})
