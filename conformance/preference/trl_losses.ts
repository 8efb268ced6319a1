// Maps TRL's names of losses, and where its losses read other numbers than the lab's.

import type { PreferenceLoss, TrlTrainer } from '../../src/rl/preferences/losses/preference_loss.ts'
import {
  PREFERENCE_NUMBERS,
  type PreferenceNumberName,
  type PreferenceValues,
} from '../../src/rl/preferences/losses/preference_numbers.ts'
import { PREFERENCE_LOSSES } from '../../src/rl/preferences/losses.ts'
import { CaseError, type Fields } from '../base/fields.ts'

/** The loss that a trainer of TRL calls so. Throws CaseError, which begins with `where`, for one
 * that the lab does not know. */
export function lossOfTrl(
  trainer: TrlTrainer,
  lossType: string | undefined,
  where: string,
): PreferenceLoss {
  const own = PREFERENCE_LOSSES.filter(({ trl }) => trl.trainer === trainer)
  const loss = own.find(({ trl }) => trl.loss_type === lossType)
  if (loss) return loss
  const names = own.map(({ trl }) => trl.loss_type).join(', ')
  throw new CaseError(`${where}: expected one of ${names}, got ${lossType}`)
}

/** TRL 1.13 ignores label smoothing here. */
const IGNORES_SMOOTHING = ['sigmoid', 'sigmoid_norm']

/** The numbers that a loss of DPOTrainer reads of what it was told. */
export const ownNumbers = ({ name }: PreferenceLoss, k: PreferenceValues): PreferenceValues =>
  IGNORES_SMOOTHING.includes(name) ? { ...k, label_smoothing: 0 } : k

/** The named numbers; the others, and with `hasDefaults` those that are not told, have their
 * defaults, which are TRL's. */
export function readNumbers(
  fields: Fields,
  names: readonly PreferenceNumberName[],
  hasDefaults = false,
): PreferenceValues {
  const all = Object.entries(PREFERENCE_NUMBERS).map(([name, number]) => {
    const isRead = names.includes(name as PreferenceNumberName)
    const fallback = hasDefaults ? number.default : undefined
    return [name, isRead ? fields.number(name, fallback) : number.default]
  })
  return Object.fromEntries(all)
}
