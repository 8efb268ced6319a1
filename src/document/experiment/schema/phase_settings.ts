// Finds the settings of a reinforcement phase: its own, laid over the experiment's; and what
// follows from them.

import type { Actor } from '../../../rl/config/actor.ts'
import { type AlgorithmFields, asksTeacher } from '../../../rl/config/algorithm.ts'
import type { Critic } from '../../../rl/config/critic.ts'
import type { RlPhase } from '../../../rl/config/phase.ts'
import type { Rollout } from '../../../rl/config/rollout.ts'
import { type AdvEstimator, asksCritic, comparesGroups } from '../../../rl/estimators/advantages.ts'
import type { Overrides } from '../../../rl/fields/field.ts'
import { type Document, isDocument } from '../fields/paths.ts'
import type { PhaseDocument, RlDocument } from '../fields/phases.ts'
import type { Experiment } from './schema.ts'

/** All settings of one rl phase, its own laid over the experiment's. */
export interface PhaseSettings {
  readonly adv_estimator: AdvEstimator
  readonly rollout: Rollout
  readonly actor: Actor
  readonly critic: Critic
  readonly algorithm: AlgorithmFields
  readonly reward_model: RlPhase['reward_model']
}

/** `shared` with what `own` sets laid over it, at any depth; pairs as a whole. */
export function laid(shared: Document, own: Document): Document {
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

/** Whether a phase learns from another model than the one that it trains. */
export function isTaughtByModel(experiment: Experiment, phase: PhaseDocument): boolean {
  if (phase.kind === 'distill') return phase.distillation.teacher === 'model'
  return phase.kind === 'rl' && asksTeacher(settingsOf(experiment, phase))
}

/** Whether a phase trains a critic: its estimator asks one. */
export const hasCritic = ({ adv_estimator }: Pick<PhaseSettings, 'adv_estimator'>): boolean =>
  asksCritic(adv_estimator)

/** Whether a phase compares the responses to one prompt with each other. */
export const hasGroups = ({ adv_estimator }: Pick<PhaseSettings, 'adv_estimator'>): boolean =>
  comparesGroups(adv_estimator)

/** Whether something is done about the policy that samples being another than the one that is
 * trained. */
export const correctsRollout = ({ algorithm: { rollout_correction: c } }: PhaseSettings): boolean =>
  c.bypass_mode || c.rollout_is !== null || c.rollout_rs !== null
