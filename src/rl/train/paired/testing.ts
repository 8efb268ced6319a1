// Makes phases of preferences for tests.
import type { PreferencePhase } from '../../config/phase.ts'
import {
  PREFERENCE_NUMBERS,
  type PreferenceValues,
} from '../../preferences/losses/preference_numbers.ts'
import type { PreferenceSettings } from '../../preferences/settings.ts'
import { OPTIM, REWARD_MODEL } from '../../testing.ts'

const NUMBERS = Object.fromEntries(
  Object.entries(PREFERENCE_NUMBERS).map(([name, number]) => [name, number.default]),
) as PreferenceValues

const SETTINGS: PreferenceSettings = {
  ...NUMBERS,
  loss_type: 'sigmoid',
  rpo_alpha: 0,
  f_divergence_type: 'reverse_kl',
  f_alpha_divergence_coef: 0.5,
  ld_alpha: 1,
  use_weighting: false,
  reference_free: false,
}

/** Of the whole model of CONFIG; every step sees all of its four pairs. */
export const preferencePhase = (
  settings: Partial<PreferenceSettings>,
  change: Partial<PreferencePhase> = {},
): PreferencePhase => ({
  kind: 'preference',
  name: 'preferences',
  steps: 3,
  batch_size: 4,
  target_layer: 3,
  grad_clip: 1,
  optim: OPTIM,
  pairs: { ...REWARD_MODEL.pairs, count: 4, held_out: 4 },
  ...change,
  preference: { ...SETTINGS, ...settings },
})
