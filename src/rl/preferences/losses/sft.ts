// Declares the cross-entropy of the better answers alone.
import { eachPair, pairedLoss } from './preference_loss.ts'

/** L = −mean log p over the completion tokens of all chosen answers. Source: trl dpo_trainer.py. */
export const sft = pairedLoss({
  name: 'sft',
  label: 'Cross-entropy of the better answers',
  help: 'Imitates the better answers; the worse ones have no effect.',
  formula: '−mean log π(token of a better answer)',
  numbers: [],
  trl: { trainer: 'DPOTrainer', loss_type: 'sft' },
  score: 'ratio',
  takesDivergence: true,
  nll: () => ({ weight: 1, over: 'completion' }),
  rule: eachPair(() => ({ loss: 0, d_chosen: 0, d_rejected: 0 })),
})
