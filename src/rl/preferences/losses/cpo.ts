// Declares CPO: DPO without a reference, with the better answers imitated beside it.
import { logisticMargin } from './margins.ts'
import { ofMargin, pairedLoss } from './preference_loss.ts'

/** z = p_c − p_r of sums: L = −(1 − e) log σ(b z) − e log σ(−b z) + cpo_alpha · NLL of the chosen
 * completions.
 *
 * Source: Xu 2024, arXiv 2401.08417; trl cpo_trainer.py. */
export const cpo = pairedLoss({
  name: 'cpo',
  label: 'CPO',
  help: 'DPO without a reference; instead the better answers are imitated beside it.',
  formula: '−(1 − ε) · log σ(β z) − ε · log σ(−β z) + α_CPO · NLL(chosen), z = log π_c − log π_r',
  numbers: ['beta', 'label_smoothing', 'cpo_alpha', 'alpha'],
  trl: { trainer: 'CPOTrainer', loss_type: 'sigmoid' },
  score: 'sum',
  nll: ({ cpo_alpha }) => ({ weight: cpo_alpha, over: 'completion' }),
  rule: ofMargin(logisticMargin),
})
