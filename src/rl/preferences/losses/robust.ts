// Declares robust DPO: an unbiased estimate of the loss where a known share of the verdicts is
// wrong.
import { logistic, logLogistic } from '../../math/logistic.ts'
import { ofMargin, pairedLoss } from './preference_loss.ts'

/** L = [−(1 − e) log σ(b d) + e log σ(−b d)] / (1 − 2e). Source: Chowdhury 2024, arXiv 2403.00409;
 * trl dpo_trainer.py. */
export const robust = pairedLoss({
  name: 'robust',
  label: 'Robust DPO',
  help: 'DPO that is right on average where a share of the verdicts, the label smoothing, is the wrong way round.',
  formula: '[−(1 − ε) · log σ(β d) + ε · log σ(−β d)] / (1 − 2ε)',
  numbers: ['beta', 'label_smoothing'],
  trl: { trainer: 'DPOTrainer', loss_type: 'robust' },
  score: 'ratio',
  takesDivergence: true,
  mayBeReferenceFree: true,
  rule: ofMargin((d, { beta, label_smoothing: e }) => {
    const x = beta * d
    return {
      loss: (-(1 - e) * logLogistic(x) + e * logLogistic(-x)) / (1 - 2 * e),
      slope: (-beta * ((1 - e) * logistic(-x) + e * logistic(x))) / (1 - 2 * e),
    }
  }),
})
