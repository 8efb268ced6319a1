// The policy losses, and how the losses of single tokens are averaged, as forms call them.
import type { LossAggMode } from '../../../kernels/policy_loss/loss_weights.ts'
import { type LossMode, POLICY_LOSSES } from '../../../rl/losses/losses.ts'
import { select } from './field.ts'

const LOSS_AGG_MODES: Readonly<Record<LossAggMode, string>> = {
  'token-mean': 'mean over tokens',
  'seq-mean-token-sum': 'mean over responses of their token sums',
  'seq-mean-token-mean': 'mean over responses of their token means',
  'seq-mean-token-sum-norm': 'token sums over a constant',
}

/** Which loss the actor minimises. */
export const lossMode = select(
  { label: 'Loss', help: 'Which policy-gradient loss is minimised.' },
  Object.fromEntries(POLICY_LOSSES.map(({ name, label }) => [name, label])) as Readonly<
    Record<LossMode, string>
  >,
)

/** How token losses are averaged, in the actor and in the critic. */
export const lossAggMode = select(
  { label: 'Averaging', help: 'How the losses of single tokens become one number.' },
  LOSS_AGG_MODES,
)
