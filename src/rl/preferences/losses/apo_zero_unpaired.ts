// Declares APO-zero for single verdicts: KTO with a KL of 0.

import { prospectLoss } from './kto.ts'
import { unpairedLoss } from './preference_loss.ts'

/** Desirable: w_d (1 − σ(b r)), undesirable: w_u σ(b r). Source: arXiv 2408.06266; trl
 * kto_trainer.py. */
export const apo_zero_unpaired = unpairedLoss({
  name: 'apo_zero_unpaired',
  label: 'APO-zero, unpaired',
  help: 'KTO that compares rewards with 0 and not with a KL, so that a step has no mismatched pairs to score.',
  formula: 'w · (1 − σ(±β r)), + and w = w_d for a liked answer, − and w = w_u for a disliked one',
  numbers: ['beta', 'desirable_weight', 'undesirable_weight'],
  trl: { trainer: 'KTOTrainer', loss_type: 'apo_zero_unpaired' },
  hasKl: false,
  rule: (answer, k) => prospectLoss({ ...answer, kl: 0 }, k),
})
