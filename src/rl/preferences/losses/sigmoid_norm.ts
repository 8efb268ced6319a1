// Declares DPO with the log ratio per token, so that long answers weigh no more.
import { logisticMargin } from './margins.ts'
import { ofTokenMargin, pairedLoss } from './preference_loss.ts'

/** L = −log σ(b (r_c/n_c − r_r/n_r)). Source: Lambert 2024, arXiv 2411.15124 (Tülu 3); trl
 * dpo_trainer.py. */
export const sigmoid_norm = pairedLoss({
  name: 'sigmoid_norm',
  label: 'DPO per token',
  help: 'DPO on log ratios that are divided by the length of the answer; it wants a larger beta.',
  formula: '−log σ(β (r_c/n_c − r_r/n_r))',
  numbers: ['beta'],
  trl: { trainer: 'DPOTrainer', loss_type: 'sigmoid_norm' },
  score: 'ratio',
  takesDivergence: true,
  rule: ofTokenMargin((d, { beta }) => logisticMargin(d, { beta, label_smoothing: 0 })),
})
