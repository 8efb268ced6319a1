// Puts the settings of reinforcement in a form: those that all phases share, and those that a phase
// sets itself.
import { leavesOf } from '../../../rl/fields/field.ts'
import type { RlDocument } from '../fields/phases.ts'
import { mayChooseCritic } from '../rules/phase_rules.ts'
import { OVERRIDABLE, ownFields } from '../schema/document_fields.ts'
import { settingsOf } from '../schema/phase_settings.ts'
import type { Experiment } from '../schema/schema.ts'
import { groupOf, hasEffect, hasOwnEffect } from './conditions.ts'
import { type Field, fieldsOf } from './form_fields.ts'

/** What the settings of a phase alone do not tell: whether there is an inner layer, or a reward
 * model came before. */
const OFFERED: Readonly<Record<string, (experiment: Experiment, index: number) => boolean>> = {
  'critic.model.init': mayChooseCritic,
  'actor.entropy_of': ({ phases }, index) => {
    const phase = phases[index]
    return phase.kind === 'rl' && phase.target_layer !== 'final'
  },
}

const isOffered = (path: string, experiment: Experiment, index: number): boolean =>
  OFFERED[path]?.(experiment, index) ?? true

/** What all rl phases share; it has an effect if it has one on some phase. */
export function sharedFields(experiment: Experiment): Field[] {
  const phases = experiment.phases.flatMap((phase, index) =>
    phase.kind === 'rl' ? [{ index, settings: settingsOf(experiment, phase) }] : [],
  )
  return fieldsOf(experiment, '', '', leavesOf(OVERRIDABLE)).map((field) => ({
    ...field,
    group: groupOf(field.path),
    hasEffect: phases.some(
      ({ index, settings }) =>
        hasEffect(field.path, settings) && isOffered(field.path, experiment, index),
    ),
  }))
}

/** What an rl phase may set itself; its default is the experiment's own value. */
export function overrideFields(
  experiment: Experiment,
  phase: RlDocument,
  index: number,
  beginsSchedule: boolean,
): Field[] {
  const settings = settingsOf(experiment, phase)
  return ownFields(experiment, index).map((field) => {
    const name = field.path.slice(`phases.${index}.`.length)
    return {
      ...field,
      group: `Phase ${index + 1}, own ${name.startsWith('critic.') ? 'critic' : 'settings'}`,
      hasEffect: hasOwnEffect(name, settings, beginsSchedule) && isOffered(name, experiment, index),
    }
  })
}
