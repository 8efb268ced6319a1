// Declares CPO with the hinge of SLiC.
import { hingeMargin } from './margins.ts'
import { ofMargin, pairedLoss } from './preference_loss.ts'

/** z = p_c − p_r of sums: L = max(0, 1 − b z) + cpo_alpha · NLL of the chosen completions. Source:
 * trl cpo_trainer.py. */
export const cpo_hinge = pairedLoss({
  name: 'cpo_hinge',
  label: 'CPO, hinge',
  help: 'CPO that stops at pairs whose margin has reached 1/beta.',
  formula: 'max(0, 1 − β z) + α_CPO · NLL(chosen), z = log π_c − log π_r',
  numbers: ['beta', 'cpo_alpha', 'alpha'],
  trl: { trainer: 'CPOTrainer', loss_type: 'hinge' },
  score: 'sum',
  nll: ({ cpo_alpha }) => ({ weight: cpo_alpha, over: 'completion' }),
  rule: ofMargin(hingeMargin),
})
