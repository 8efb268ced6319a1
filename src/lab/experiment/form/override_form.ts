// The settings of reinforcement in a form: those that all phases share, and those that a phase sets itself.
import { ACTOR } from '../fields/actor_fields.ts'
import { ALGORITHM } from '../fields/algorithm_fields.ts'
import { CRITIC } from '../fields/critic_fields.ts'
import { type FieldValue, leavesOf } from '../fields/field.ts'
import { ROLLOUT } from '../fields/rollout_fields.ts'
import { valueAt } from '../paths.ts'
import { settingsOf } from '../phase_settings.ts'
import type { RlDocument } from '../phases.ts'
import { mayChooseCritic } from '../rules/phase_rules.ts'
import type { Experiment } from '../schema.ts'
import { groupOf, hasEffect, hasOwnEffect } from './conditions.ts'
import { type Field, fieldsOf } from './form_fields.ts'

/** The sections that a phase may overlay with settings of its own, in the order of the form. */
const OVERRIDABLE = { rollout: ROLLOUT, actor: ACTOR, critic: CRITIC, algorithm: ALGORITHM }

/** Offered where a reward model came before, which the settings of a phase alone do not tell. */
const CRITIC_INIT = 'critic.model.init'

/** What all rl phases share; it has an effect if it has one on some phase. */
export function sharedFields(experiment: Experiment): Field[] {
  const phases = experiment.phases.filter((phase) => phase.kind === 'rl')
  const settings = phases.map((phase) => settingsOf(experiment, phase))
  return fieldsOf(experiment, '', '', leavesOf(OVERRIDABLE)).map((field) => ({
    ...field,
    group: groupOf(field.path),
    has_effect:
      settings.some((of) => hasEffect(field.path, of)) &&
      (field.path !== CRITIC_INIT ||
        experiment.phases.some((_, i) => mayChooseCritic(experiment, i))),
  }))
}

/** What an rl phase may set itself; its default is the experiment's own value. */
export function overrideFields(
  experiment: Experiment,
  phase: RlDocument,
  index: number,
  begins_schedule: boolean,
): Field[] {
  const settings = settingsOf(experiment, phase)
  return leavesOf(OVERRIDABLE).map(([name, { info }]) => {
    const path = `phases.${index}.${name}`
    const own = valueAt(experiment, path) as FieldValue | undefined
    const shared = valueAt(experiment, name) as FieldValue
    return {
      ...info,
      path,
      group: `Phase ${index + 1}, own ${name.startsWith('critic.') ? 'critic' : 'settings'}`,
      value: own ?? shared,
      default: shared,
      is_overridden: own !== undefined,
      has_effect:
        hasOwnEffect(name, settings, begins_schedule) &&
        (name !== CRITIC_INIT || mayChooseCritic(experiment, index)),
    }
  })
}
