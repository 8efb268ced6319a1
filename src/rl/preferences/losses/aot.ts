// Declares AOT: the margins of the policy, sorted, against those of the reference, sorted.
import { logisticMargin } from './margins.ts'
import { pairedLoss } from './preference_loss.ts'
import { sortedOrder } from './sorted_order.ts'

/** z = sorted(p_c − p_r) − sorted(f_c − f_r); L = −(1 − e) log σ(b z) − e log σ(−b z). Gradients
 * return through the sort.
 *
 * Source: Melnyk 2024, arXiv 2406.05882; trl dpo_trainer.py. */
export const aot = pairedLoss({
  name: 'aot',
  label: 'AOT',
  help: 'Compares the whole distribution of margins in a batch with that of the reference, instead of pair with pair.',
  formula:
    '−(1 − ε) · log σ(β z) − ε · log σ(−β z), z = sort(log π_c − log π_r) − sort(log π_ref,c − log π_ref,r)',
  numbers: ['beta', 'label_smoothing'],
  trl: { trainer: 'DPOTrainer', loss_type: 'aot' },
  score: 'ratio',
  comparesBatch: true,
  rule: (pairs, k) => {
    const ofPolicy = pairs.map(({ chosen, rejected }) => chosen.log_prob - rejected.log_prob)
    const ofReference = pairs.map(
      ({ chosen, rejected }) => chosen.ref_log_prob - rejected.ref_log_prob,
    )
    const order = sortedOrder(ofPolicy)
    const refOrder = sortedOrder(ofReference)
    const found = pairs.map(() => ({ loss: 0, d_chosen: 0, d_rejected: 0 }))
    order.forEach((i, rank) => {
      const { loss, slope } = logisticMargin(ofPolicy[i] - ofReference[refOrder[rank]], k)
      // Which pair a loss belongs to is the policy's order; only their mean is a loss.
      found[i] = { loss, d_chosen: slope, d_rejected: -slope }
    })
    return found
  },
})
