// Computes the losses of a margin that several preference losses share.
import { logistic, logLogistic } from '../../math/logistic.ts'
import type { PreferenceValues } from './preference_numbers.ts'

type Rule = { readonly loss: number; readonly slope: number }

/** −(1 − e) log σ(b d) − e log σ(−b d). */
export function logisticMargin(
  d: number,
  { beta, label_smoothing: e }: Pick<PreferenceValues, 'beta' | 'label_smoothing'>,
): Rule {
  const x = beta * d
  return {
    loss: -(1 - e) * logLogistic(x) - e * logLogistic(-x),
    slope: beta * (e * logistic(x) - (1 - e) * logistic(-x)),
  }
}

/** max(0, 1 − b d). */
export function hingeMargin(d: number, { beta }: Pick<PreferenceValues, 'beta'>): Rule {
  const isOpen = beta * d < 1
  return { loss: isOpen ? 1 - beta * d : 0, slope: isOpen ? -beta : 0 }
}

/** (d − 1/(2b))². */
export function squaredMargin(d: number, { beta }: Pick<PreferenceValues, 'beta'>): Rule {
  const off = d - 1 / (2 * beta)
  return { loss: off * off, slope: 2 * off }
}
