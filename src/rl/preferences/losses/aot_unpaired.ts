// Declares AOT without pairs: the rewards of all better answers, sorted, against those of all worse
// ones, sorted.
import { logisticMargin } from './margins.ts'
import { pairedLoss } from './preference_loss.ts'
import { sortedOrder } from './sorted_order.ts'

/** z = sorted(r_c) − sorted(r_r); L = −(1 − e) log σ(b z) − e log σ(−b z). Gradients return through
 * both sorts.
 *
 * Source: Melnyk 2024, arXiv 2406.05882; trl dpo_trainer.py. */
export const aot_unpaired = pairedLoss({
  name: 'aot_unpaired',
  label: 'AOT, unpaired',
  help: 'Wants the rewards of the better answers of a batch, taken together, above those of the worse ones.',
  formula: '−(1 − ε) · log σ(β z) − ε · log σ(−β z), z = sort(r_c) − sort(r_r)',
  numbers: ['beta', 'label_smoothing'],
  trl: { trainer: 'DPOTrainer', loss_type: 'aot_unpaired' },
  score: 'ratio',
  comparesBatch: true,
  rule: (pairs, k) => {
    const chosen = sortedOrder(pairs.map((pair) => pair.chosen.score))
    const rejected = sortedOrder(pairs.map((pair) => pair.rejected.score))
    const found = pairs.map(() => ({ loss: 0, d_chosen: 0, d_rejected: 0 }))
    chosen.forEach((c, rank) => {
      const r = rejected[rank]
      const { loss, slope } = logisticMargin(pairs[c].chosen.score - pairs[r].rejected.score, k)
      found[c] = { ...found[c], loss, d_chosen: slope }
      found[r] = { ...found[r], d_rejected: -slope }
    })
    return found
  },
})
