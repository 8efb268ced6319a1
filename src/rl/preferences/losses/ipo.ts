// Declares IPO: the margin per token should be 1/(2b), neither less nor more.
import { squaredMargin } from './margins.ts'
import { ofTokenMargin, pairedLoss } from './preference_loss.ts'

/** L = (r_c/n_c − r_r/n_r − 1/(2b))². Source: Azar 2023, arXiv 2310.12036; trl dpo_trainer.py,
 * which divides by the tokens. */
export const ipo = pairedLoss({
  name: 'ipo',
  label: 'IPO',
  help: 'Pulls the margin per token to 1/(2 beta), so that it cannot grow without end.',
  formula: '(r_c/n_c − r_r/n_r − 1/(2β))²',
  numbers: ['beta'],
  trl: { trainer: 'DPOTrainer', loss_type: 'ipo' },
  score: 'ratio',
  takesDivergence: true,
  mayBeReferenceFree: true,
  rule: ofTokenMargin(squaredMargin),
})
