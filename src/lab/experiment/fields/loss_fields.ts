// The policy losses, and how the losses of single tokens are averaged, as forms call them.
import type { LossAggMode, LossMode } from '../../../kernels/policy_loss/loss_modes.ts'
import { select } from './field.ts'

/** Every policy loss of the engine; the compiler keeps the list complete. */
const LOSS_MODES: Readonly<Record<LossMode, string>> = {
  vanilla: 'PPO, clipped',
  gspo: 'GSPO (one ratio per response)',
  sapo: 'SAPO (soft gate)',
  gpg: 'GPG (no ratio)',
  clip_cov: 'Clip-Cov',
  kl_cov: 'KL-Cov',
  geo_mean: 'GMPO (geometric mean)',
  cispo: 'CISPO (clipped weights)',
  reinforce: 'REINFORCE',
}

const LOSS_AGG_MODES: Readonly<Record<LossAggMode, string>> = {
  'token-mean': 'mean over tokens',
  'seq-mean-token-sum': 'mean over responses of their token sums',
  'seq-mean-token-mean': 'mean over responses of their token means',
  'seq-mean-token-sum-norm': 'token sums over a constant',
}

/** Which loss the actor minimises. */
export const lossMode = select(
  { label: 'Loss', help: 'Which policy-gradient loss is minimised.' },
  LOSS_MODES,
)

/** How token losses are averaged, in the actor and in the critic. */
export const lossAggMode = select(
  { label: 'Averaging', help: 'How the losses of single tokens become one number.' },
  LOSS_AGG_MODES,
)
