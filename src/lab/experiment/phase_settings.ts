// The settings of a reinforcement phase: its own, laid over the experiment's.
import type { PhaseSettings } from './conditions.ts'
import type { Overrides } from './fields.ts'
import { type Document, isDocument } from './paths.ts'
import type { Experiment, RlDocument } from './schema.ts'

/** `shared` with what `own` sets laid over it, at any depth; pairs as a whole. */
function laid(shared: Document, own: Document): Document {
  const result = { ...shared }
  for (const [name, value] of Object.entries(own))
    if (value !== undefined)
      result[name] = isDocument(value) ? laid(result[name] as Document, value) : value
  return result
}

const laidOver = <T extends object>(shared: T, own: Overrides<T> | undefined): T =>
  (own ? laid(shared as Document, own as Document) : shared) as T

/** All settings of an rl phase: its own, and the experiment's where it has none. */
export function settingsOf(experiment: Experiment, phase: RlDocument): PhaseSettings {
  return {
    adv_estimator: phase.adv_estimator,
    rollout: laidOver(experiment.rollout, phase.rollout),
    actor: laidOver(experiment.actor, phase.actor),
    critic: laidOver(experiment.critic, phase.critic),
    algorithm: laidOver(experiment.algorithm, phase.algorithm),
    reward_model: phase.reward_model,
  }
}
