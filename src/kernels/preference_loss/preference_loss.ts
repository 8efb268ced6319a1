// Declares the loss of a reward model: which of two answers was preferred.
import { defineKernel } from '../device/base/kernel.ts'
import reduce from '../wgsl/workgroup_reduce.wgsl?raw'
import bradley_terry from './bradley_terry_loss.wgsl?raw'

/** What bradley_terry_loss adds up, in the order of its `sums`; both are means over pairs (already
 * times inv_pairs). */
export const PREFERENCE_LOSS_SUMS = ['reward_model/loss', 'reward_model/accuracy'] as const

/** Negative log-likelihood of the preferences under Bradley and Terry's model, p(chosen ≻ rejected)
 * = sigmoid(chosen - rejected): loss = inv_pairs · Σ -log sigmoid(chosen - rejected), in nats per
 * pair.
 *
 * scores [2 · pairs]: the scores of all chosen answers, then those of the rejected ones in the same
 * order → d_scores [2 · pairs] (overwritten); sums[PREFERENCE_LOSS_SUMS.length] is added to.
 * accuracy counts chosen > rejected, so a tie counts as wrong. inv_pairs = 1 / pairs of the whole
 * mini-batch, also when this call sees a part of it. Margins of any size give finite numbers.
 *
 * Source: Bradley and Terry 1952; Ouyang et al. 2022 eq. 1, arXiv 2203.02155; Hugging Face trl
 * trl/trainer/reward_trainer.py compute_loss (without margin and centering). */
export const bradley_terry_loss = defineKernel({
  name: 'bradley_terry_loss',
  wgsl: bradley_terry + reduce,
  params: { pairs: 'u32', inv_pairs: 'f32' },
  bindings: { scores: 'read', d_scores: 'read_write', sums: 'read_write' },
  workgroups: () => [1],
})
