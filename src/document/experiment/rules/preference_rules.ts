// Checks the rules of a preference phase: its loss goes with its settings, and the policy that it
// trains is one of the model's.
import { preferenceRefusal } from '../../../rl/preferences/settings.ts'
import type { PreferenceDocument } from '../fields/phases.ts'
import type { Experiment } from '../schema/schema.ts'
import { innerLayerWords, type Rule } from './rule.ts'

/** Every rule of its own; those of its pairs are reward_rules.ts's. */
export function preferenceRules(
  { model }: Experiment,
  phase: PreferenceDocument,
  at: string,
  rule: Rule,
): void {
  const { preference, target_layer, target_readout, pairs, refresh_steps, reward_model } = phase
  const layers = model.num_hidden_layers
  rule(
    target_layer === 'final' || target_layer < layers,
    `${at}.target_layer`,
    ['model.num_hidden_layers'],
    innerLayerWords(layers, target_layer),
  )
  rule(
    target_readout === 'raw' || target_layer !== 'final',
    `${at}.target_readout`,
    [`${at}.target_layer`],
    `expected 'raw', because the whole model's policy has the final norm already; the read-out is a choice for inner layers`,
  )
  rule(
    refresh_steps === null || pairs.source === 'judge',
    `${at}.refresh_steps`,
    [`${at}.pairs.source`],
    `expected null, because only the task or a reward model can judge new pairs at once (pairs.source judge); got ${refresh_steps}`,
  )
  rule(
    !reward_model.enable || pairs.source === 'judge' || pairs.source === 'mixed',
    `${at}.reward_model.enable`,
    [`${at}.pairs.source`],
    `expected false, because a reward model judges pairs in place of the task (pairs.source judge or mixed), and here ${pairs.source} does; got true`,
  )
  const refusal = preferenceRefusal(preference)
  const [, name = '', message = ''] = /^(\w+): (.*)$/s.exec(refusal ?? '') ?? []
  rule(refusal === undefined, `${at}.preference.${name}`, [`${at}.preference.loss_type`], message)
}
