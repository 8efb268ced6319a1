// Declares SLiC: a margin that is large enough has no loss.
import { hingeMargin } from './margins.ts'
import { ofMargin, pairedLoss } from './preference_loss.ts'

/** L = max(0, 1 − b d). Source: Zhao 2023, arXiv 2305.10425; trl dpo_trainer.py. */
export const hinge = pairedLoss({
  name: 'hinge',
  label: 'Hinge (SLiC)',
  help: 'Stops at pairs whose margin has reached 1/beta.',
  formula: 'max(0, 1 − β d)',
  numbers: ['beta'],
  trl: { trainer: 'DPOTrainer', loss_type: 'hinge' },
  score: 'ratio',
  takesDivergence: true,
  mayBeReferenceFree: true,
  rule: ofMargin(hingeMargin),
})
