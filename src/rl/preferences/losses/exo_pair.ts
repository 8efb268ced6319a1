// Declares EXO: the reverse KL from the verdicts to the policy's own preference.
import { logistic, logLogistic } from '../../math/logistic.ts'
import { ofMargin, pairedLoss } from './preference_loss.ts'

/** s = σ(b d); L = s (log s − log(1 − e)) + (1 − s)(log(1 − s) − log e). dL/d(b d) = s (1 − s)(b d
 * − log(1 − e) + log e).
 *
 * Source: Ji 2024, arXiv 2402.00856 eq. 16; trl dpo_trainer.py. */
export const exo_pair = pairedLoss({
  name: 'exo_pair',
  label: 'EXO',
  help: 'Reverse KL instead of the forward KL of DPO; it needs label smoothing above 0.',
  formula: 's · (log s − log(1 − ε)) + (1 − s) · (log(1 − s) − log ε), s = σ(β d)',
  numbers: ['beta', 'label_smoothing'],
  trl: { trainer: 'DPOTrainer', loss_type: 'exo_pair' },
  score: 'ratio',
  takesDivergence: true,
  mayBeReferenceFree: true,
  contradiction: ({ label_smoothing }) =>
    label_smoothing > 0
      ? undefined
      : { at: 'label_smoothing', expected: 'above 0, because EXO takes its logarithm' },
  rule: ofMargin((d, { beta, label_smoothing: e }) => {
    const x = beta * d
    const [s, rest] = [logistic(x), logistic(-x)]
    const [logRight, logWrong] = [Math.log(1 - e), Math.log(e)]
    return {
      loss: s * (logLogistic(x) - logRight) + rest * (logLogistic(-x) - logWrong),
      slope: beta * s * rest * (x - logRight + logWrong),
    }
  }),
})
