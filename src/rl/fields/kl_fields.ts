// Declares the fields of a KL to the reference policy: its estimator and its weight, in the loss
// and in the reward.
import type { KlPenalty } from '../../kernels/kl/kl_penalty.ts'
import { number, select } from './field.ts'

const KL_PENALTIES: Readonly<Record<KlPenalty, string>> = {
  kl: 'kl (k1: log ratio)',
  k1: 'k1',
  abs: 'abs (absolute log ratio)',
  mse: 'mse (k2: half the square)',
  k2: 'k2',
  low_var_kl: 'low_var_kl (k3: never negative)',
  k3: 'k3',
  'kl+': 'kl+ (k1, gradient of k2)',
  'k1+': 'k1+ (k1, gradient of k2)',
  'abs+': 'abs+ (abs, gradient of k2)',
  'mse+': 'mse+ (k2)',
  'k2+': 'k2+ (k2)',
  'low_var_kl+': 'low_var_kl+ (k3, gradient of k2)',
  'k3+': 'k3+ (k3, gradient of k2)',
}

const { low_var_kl, ...OTHER_KL_PENALTIES } = KL_PENALTIES

/** Without those that have another estimator's gradient: a reward has none. */
const REWARD_KL_PENALTIES = Object.fromEntries(
  Object.entries(KL_PENALTIES).filter(([kind]) => !kind.endsWith('+')),
) as Readonly<Record<KlPenalty, string>>

/** The estimator in the loss. */
export const klLossType = select(
  { label: 'Estimator in the loss', help: 'How the KL in the loss is estimated per token.' },
  { low_var_kl, ...OTHER_KL_PENALTIES },
)

/** The estimator in the reward. */
export const klPenalty = select(
  { label: 'Estimator in the reward', help: 'How the KL in the reward is estimated per token.' },
  REWARD_KL_PENALTIES,
)

/** The weight of a KL. */
export const klCoef = (label: string, help: string, value: number) =>
  number({ label, help, default: value, min: 0, max: 10, step: 0.001, live: true })
