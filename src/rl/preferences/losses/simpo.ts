// Declares SimPO: log-probs per token, without a reference, with a margin that the reward should
// exceed.
import { logisticMargin } from './margins.ts'
import { ofMargin, pairedLoss } from './preference_loss.ts'

/** z = p_c − p_r − gamma/b of means: L = −(1 − e) log σ(b z) − e log σ(−b z) + cpo_alpha · NLL of
 * the chosen completions.
 *
 * Source: Meng 2024, arXiv 2405.14734; AlphaPO: arXiv 2501.03884; trl cpo_trainer.py. */
export const simpo = pairedLoss({
  name: 'simpo',
  label: 'SimPO',
  help: 'Compares mean log-probs per token without a reference, and asks for a margin; it wants a beta of about 2.',
  formula:
    '−(1 − ε) · log σ(β z) − ε · log σ(−β z) + α_CPO · NLL(chosen), z = mean log π_c − mean log π_r − γ/β',
  numbers: ['beta', 'label_smoothing', 'simpo_gamma', 'cpo_alpha', 'alpha'],
  trl: { trainer: 'CPOTrainer', loss_type: 'simpo' },
  score: 'mean',
  nll: ({ cpo_alpha }) => ({ weight: cpo_alpha, over: 'completion' }),
  rule: ofMargin((z, k) => logisticMargin(z - k.simpo_gamma / k.beta, k)),
})
