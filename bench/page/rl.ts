// Takes reinforcement steps for the suites: a preset without work that comes only every few steps,
// and access to its actor.

import { trainerConfig } from '../../src/document/experiment/trainer_config.ts'
import { presetOf } from '../../src/document/presets/presets.ts'
import type { Gpu } from '../../src/kernels/device/gpu.ts'
import type { RlPhase } from '../../src/rl/config/phase.ts'
import type { TrainerConfig } from '../../src/rl/config/trainer_config.ts'
import { Actor } from '../../src/rl/learners/actor.ts'

/** Only the last rl phase of a preset, without validation and probes, which come every few
 * steps. */
export function rlConfig(presetId: string): { config: TrainerConfig; phase: RlPhase } {
  const preset = presetOf(presetId)
  if (!preset) throw new RangeError(`no preset ${presetId}`)
  const config = trainerConfig(preset.experiment)
  const last = config.phases.findLast((candidate) => candidate.kind === 'rl')
  // Without the phase that trains it there is no reward model.
  const phase = last && { ...last, reward_model: { enable: false } }
  if (!phase) throw new RangeError(`preset ${presetId} has no rl phase`)
  const validation = { ...config.validation, test_freq: null }
  const probe = { ...config.probe, freq: null }
  return { config: { ...config, phases: [phase], validation, probe }, phase }
}

/** How a trainer last called its actor. */
export interface HeardActor {
  readonly actor: Actor
  readonly scored: Parameters<Actor['computeLogProbs']>
  readonly updated: Parameters<Actor['updatePolicy']>
}

/** Makes the next trainer with an actor that remembers how its two passes were called. */
export function listenToActor(): () => HeardActor {
  const create = Actor.create
  let heard: HeardActor | undefined
  Actor.create = async (...args) => {
    Actor.create = create
    const actor = await create.apply(Actor, args)
    const { computeLogProbs, updatePolicy } = actor
    let scored: HeardActor['scored'] | undefined
    actor.computeLogProbs = (...call) => {
      scored = call
      computeLogProbs.apply(actor, call)
    }
    actor.updatePolicy = (...updated) => {
      if (scored) heard = { actor, scored, updated }
      return updatePolicy.apply(actor, updated)
    }
    return actor
  }
  return () => {
    if (!heard) throw new Error('the trainer made no rl step')
    return heard
  }
}

/** Scores the batch of the last step again, under the policy of `target_layer`. */
export function scoreAgain({ actor, scored }: HeardActor, target_layer: number): void {
  const [phase, rows] = scored
  actor.computeLogProbs({ ...phase, target_layer }, rows)
}

/** Makes the updates of the last step again, of the policy of `target_layer`. */
export function updateAgain({ actor, updated }: HeardActor, target_layer: number): void {
  const [batch, phase, ...rest] = updated
  actor.beginStep()
  actor.updatePolicy(batch, { ...phase, target_layer }, ...rest)
}

/** Milliseconds until the GPU has finished what `action` queues. */
export async function finished(gpu: Gpu, action: () => void): Promise<number> {
  const start = performance.now()
  action()
  await gpu.finish()
  return performance.now() - start
}
