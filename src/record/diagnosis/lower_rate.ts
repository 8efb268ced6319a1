// Offers the remedy for steps that break: smaller ones.

import { experimentFields } from '../../document/experiment/form/form.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { SteeringAction } from '../../document/experiment/steering/actions.ts'
import { isSteerable } from '../../document/experiment/steering/edit_phases.ts'
import { asksCritic } from '../../rl/estimators/advantages.ts'

/** What is left of a learning rate. */
const LOWER_BY = 0.5

/** The fields of the learning rates that phase `index` trains with, as they are, and as they would
 * be lowered. */
export function lowerRates(
  experiment: Experiment,
  index: number,
): readonly { readonly action: Extract<SteeringAction, { kind: 'set' }>; readonly from: number }[] {
  const phase = experiment.phases[index]
  if (!phase) return []
  const names =
    phase.kind !== 'rl'
      ? ['optim.lr']
      : asksCritic(phase.adv_estimator)
        ? ['actor.optim.lr', 'critic.optim.lr']
        : ['actor.optim.lr']
  const fields = new Map(experimentFields(experiment).map((field) => [field.path, field]))
  return names.flatMap((name) => {
    const own = fields.get(`phases.${index}.${name}`)
    // Where the phase takes the experiment's, the phases after it would break too.
    const field = own && own.isOverridden !== false ? own : (fields.get(name) ?? own)
    if (!field || typeof field.value !== 'number' || !isSteerable(field, index)) return []
    const value = Math.max(field.min ?? 0, field.value * LOWER_BY)
    if (value === field.value) return []
    return [{ action: { kind: 'set', path: field.path, value }, from: field.value }]
  })
}
