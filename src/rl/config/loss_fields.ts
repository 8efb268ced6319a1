// Declares the policy losses, and how the losses of single tokens are averaged, as forms call them.
import {
  AGGREGATIONS,
  type LossAggMode,
} from '../../kernels/policy_loss/aggregations/aggregations.ts'
import { select } from '../fields/field.ts'
import { type LossMode, POLICY_LOSSES } from '../losses/losses.ts'

/** Which loss the actor minimises. */
export const lossMode = select(
  { label: 'Loss', help: 'Which policy-gradient loss is minimised.' },
  Object.fromEntries(POLICY_LOSSES.map(({ name, label }) => [name, label])) as Readonly<
    Record<LossMode, string>
  >,
)

/** How token losses are averaged, in the actor and in the critic. */
export const lossAggMode = select(
  {
    label: 'Averaging',
    help: 'How the losses of single tokens become one number; TRL names most of its loss types after it.',
  },
  Object.fromEntries(AGGREGATIONS.map(({ name, label }) => [name, label])) as Readonly<
    Record<LossAggMode, string>
  >,
)

/** What a ratio is of. */
export const samplingLevel = select(
  {
    label: 'Ratio',
    help: 'Whether the ratio that is clipped is that of each token, or the geometric mean over the response, as in GSPO, with any averaging; TRL’s luspo wants the response.',
  },
  { token: 'of each token', sequence: 'of the whole response' },
)
