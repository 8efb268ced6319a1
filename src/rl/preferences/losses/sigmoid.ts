// Declares DPO: a logistic regression of the verdicts on the margin.
import { logisticMargin } from './margins.ts'
import { ofMargin, pairedLoss } from './preference_loss.ts'

/** L = −(1 − e) log σ(b d) − e log σ(−b d); e = label_smoothing makes it conservative DPO.
 *
 * Source: Rafailov 2023, arXiv 2305.18290; trl dpo_trainer.py, v0.19.1 for label smoothing, which
 * 1.13 ignores here. */
export const sigmoid = pairedLoss({
  name: 'sigmoid',
  label: 'DPO',
  help: 'Raises the better answer over the worse one by logistic regression; with label smoothing it is conservative DPO.',
  formula: '−(1 − ε) · log σ(β d) − ε · log σ(−β d)',
  numbers: ['beta', 'label_smoothing'],
  trl: { trainer: 'DPOTrainer', loss_type: 'sigmoid' },
  score: 'ratio',
  takesDivergence: true,
  mayBeReferenceFree: true,
  rule: ofMargin(logisticMargin),
})
