// Declares the fields of a preference phase's objective, under TRL's names.

import { boolean, number, select, type Tree } from '../../../rl/fields/field.ts'
import { F_DIVERGENCES, type FDivergence } from '../../../rl/preferences/divergence.ts'
import {
  PREFERENCE_NUMBERS,
  type PreferenceValues,
} from '../../../rl/preferences/losses/preference_numbers.ts'
import {
  PREFERENCE_LOSSES,
  type PreferenceLossName,
  preferenceLossOf,
} from '../../../rl/preferences/losses.ts'
import type { PreferenceSettings } from '../../../rl/preferences/settings.ts'

/** Each number of a loss, as its own file or the list of shared ones declares it. */
const NUMBERS = Object.fromEntries(
  Object.entries(PREFERENCE_NUMBERS).map(([name, said]) => [name, number({ ...said, live: true })]),
) as unknown as Tree<PreferenceValues>

const DIVERGENCES: Readonly<Record<FDivergence, string>> = {
  reverse_kl: 'reverse KL',
  forward_kl: 'forward KL',
  js_divergence: 'Jensen–Shannon',
  alpha_divergence: 'alpha divergence',
}

export const PREFERENCE_SETTINGS: Tree<PreferenceSettings> = {
  loss_type: select(
    {
      label: 'Loss',
      help: 'How two answers of which one is better become a loss; DPO is the usual one, and KTO takes the answers of a pair apart.',
    },
    Object.fromEntries(PREFERENCE_LOSSES.map(({ name, label }) => [name, label])) as Readonly<
      Record<PreferenceLossName, string>
    >,
  ),
  ...NUMBERS,
  rpo_alpha: number({
    label: 'Imitation of the better answer',
    live: true,
    help: 'Weight of the cross-entropy of the better answers beside the loss (RPO), against falling log-probs of both; 0 = none.',
    default: 0,
    min: 0,
    max: 100,
    step: 0.1,
  }),
  f_divergence_type: select(
    {
      label: 'Divergence',
      help: 'What holds the policy to its reference; DPO has the reverse KL, others are f-DPO.',
    },
    Object.fromEntries(F_DIVERGENCES.map((name) => [name, DIVERGENCES[name]])) as Readonly<
      Record<FDivergence, string>
    >,
  ),
  f_alpha_divergence_coef: number({
    label: 'Alpha of the divergence',
    live: true,
    help: 'Which alpha divergence it is; 1 = the reverse KL.',
    default: 0.5,
    min: 0,
    max: 2,
    step: 0.05,
  }),
  ld_alpha: number({
    label: 'Weight of longer ends',
    live: true,
    help: 'What tokens beyond the length of the shorter answer of a pair count (LD-DPO), against answers that grow; 1 = as much as others.',
    default: 1,
    min: 0,
    max: 1,
    step: 0.05,
  }),
  use_weighting: boolean({
    label: 'Weight by the policy',
    help: 'Whether pairs count as much as the policy would write them itself (WPO), for pairs that another model wrote.',
    default: false,
  }),
  reference_free: boolean({
    label: 'Without the reference',
    help: 'Whether the reference counts as uniform in the loss, so that only the policy’s own log-probs decide.',
    default: false,
  }),
}

/** What the objective of a phase is called. */
export const preferenceLabel = ({ loss_type }: Pick<PreferenceSettings, 'loss_type'>): string =>
  preferenceLossOf(loss_type).label
