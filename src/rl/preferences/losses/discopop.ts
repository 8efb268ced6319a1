// Declares DiscoPOP: a blend of the logistic and the exponential loss that a search found.
import { logistic, logLogistic } from '../../math/logistic.ts'
import { ofMargin, pairedLoss } from './preference_loss.ts'

/** x = b d, q = σ(x / tau): L = −(1 − q) log σ(x) + q exp(−x).
 *
 * Source: Lu 2024, arXiv 2406.08414 eq. 5; trl dpo_trainer.py. */
export const discopop = pairedLoss({
  name: 'discopop',
  label: 'DiscoPOP',
  help: 'Blends the logistic loss of small margins with the exponential one of large ones.',
  formula: '−(1 − q) · log σ(β d) + q · exp(−β d), q = σ(β d / τ)',
  numbers: ['beta', 'discopop_tau'],
  trl: { trainer: 'DPOTrainer', loss_type: 'discopop' },
  score: 'ratio',
  takesDivergence: true,
  rule: ofMargin((d, { beta, discopop_tau }) => {
    const x = beta * d
    const q = logistic(x / discopop_tau)
    const [ofLogistic, ofExp] = [-logLogistic(x), Math.exp(-x)]
    const dQ = (q * (1 - q)) / discopop_tau
    const slope = dQ * (ofExp - ofLogistic) - (1 - q) * logistic(-x) - q * ofExp
    return { loss: (1 - q) * ofLogistic + q * ofExp, slope: beta * slope }
  }),
})
