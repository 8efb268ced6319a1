// The phases of an experiment as the trainer runs them.
import type { Actor } from '../../rl/config/actor.ts'
import type { Algorithm } from '../../rl/config/algorithm.ts'
import type { Critic } from '../../rl/config/critic.ts'
import {
  type Pairs,
  type Phase,
  type PreferencePhase,
  STOP_DEFAULTS,
} from '../../rl/config/phase.ts'
import type { ActorFields } from './fields/actor_fields.ts'
import type { AlgorithmFields } from './fields/algorithm_fields.ts'
import type { CriticFields } from './fields/critic_fields.ts'
import { preferenceLabel } from './fields/preference_fields.ts'
import { layersOf } from './fields/trained_fields.ts'
import { settingsOf } from './phase_settings.ts'
import { innerTarget, type PairedDocument, type PreferenceDocument } from './phases.ts'
import type { Experiment } from './schema.ts'
import { readVerdicts } from './verdicts.ts'

/** The engine has null for what is 0 here. */
function engineActor(actor: ActorFields): Actor {
  return {
    ...actor,
    loss_scale_factor: actor.loss_scale_factor || null,
    ppo_micro_batch_size_per_gpu: actor.ppo_micro_batch_size_per_gpu || null,
  }
}

/** The engine has null for what is 0 here. */
const engineCritic = (critic: CriticFields): Critic => ({
  ...critic,
  ppo_mini_batch_size: critic.ppo_mini_batch_size || null,
  ppo_epochs: critic.ppo_epochs || null,
})

/** The engine has null for what is 'off', '' or a length of 0 here. */
function engineAlgorithm(algorithm: AlgorithmFields): Algorithm {
  const { rollout_correction, overlong_buffer } = algorithm
  const { rollout_is, rollout_rs, rollout_rs_threshold, ...correction } = rollout_correction
  const { rollout_is_threshold_lower: lower, rollout_is_threshold: upper, ...rest } = correction
  return {
    ...algorithm,
    rollout_correction: {
      ...rest,
      rollout_is_threshold: lower > 0 ? `${lower}_${upper}` : upper,
      rollout_is: rollout_is === 'off' ? null : rollout_is,
      rollout_rs: rollout_rs.trim() || null,
      rollout_rs_threshold: rollout_rs_threshold.trim() || null,
    },
    overlong_buffer: overlong_buffer.len > 0 ? overlong_buffer : null,
  }
}

/** A phase takes no more pairs than its file has. */
function pairsOfFile({ task }: Experiment, { pairs }: PairedDocument) {
  if (pairs.source !== 'file') return {}
  return {
    count: Math.min(pairs.count, Number(task.train_pairs)),
    held_out: Math.min(pairs.held_out, Number(task.test_pairs)),
  }
}

const pairsOf = (experiment: Experiment, phase: PairedDocument): Pairs => ({
  ...phase.pairs,
  ...pairsOfFile(experiment, phase),
  verdicts: readVerdicts(phase.pairs.verdicts) ?? [],
})

function preferencePhase(
  experiment: Experiment,
  phase: PreferenceDocument,
  target_layer: number,
): PreferencePhase {
  const label = preferenceLabel(phase.preference)
  return {
    ...phase,
    name:
      phase.name || (phase.target_layer === 'final' ? label : `${label}, layer ${target_layer}`),
    target_layer,
    pairs: pairsOf(experiment, phase),
    stop: { ...STOP_DEFAULTS, ...phase.stop },
  }
}

/** The inner layer that a phase trains, else the first that any phase does; undefined where none
 * does. */
export function innerLayer({ model, phases }: Experiment, phase: number): number | undefined {
  const inner = phases.map((one) => {
    const layer = innerTarget(one)
    return layer !== undefined && layer < model.num_hidden_layers ? layer : undefined
  })
  return inner[phase] ?? inner.find((layer) => layer !== undefined)
}

/** The phases as the trainer runs them: names given, own settings laid over the experiment's,
 * layers as numbers. */
export function resolvePhases(experiment: Experiment): Phase[] {
  const layers = experiment.model.num_hidden_layers
  return experiment.phases.map((phase) => {
    if (phase.kind === 'sft') {
      const { epochs: _, ...sft } = phase
      const name = phase.name || 'warm start'
      return { ...sft, name, stop: { ...STOP_DEFAULTS, ...phase.stop } }
    }
    if (phase.kind === 'reward_model')
      return { ...phase, name: phase.name || 'reward model', pairs: pairsOf(experiment, phase) }
    const target_layer = phase.target_layer === 'final' ? layers : phase.target_layer
    if (phase.kind === 'preference') return preferencePhase(experiment, phase, target_layer)
    const name = target_layer === layers ? 'whole model' : `layer ${target_layer}`
    const { kind, steps, stop, target_readout, freeze, lr_factor_above } = phase
    const { reset_optimizer, reset_schedule, decay_final_norm } = phase
    const { actor, critic, algorithm, ...settings } = settingsOf(experiment, phase)
    return {
      kind,
      name: phase.name || name,
      steps,
      stop,
      target_layer,
      target_readout,
      reset_optimizer,
      reset_schedule,
      lr_factor_above,
      decay_final_norm,
      freeze: { ...freeze, layers: layersOf(freeze.layers) },
      ...settings,
      actor: engineActor(actor),
      critic: engineCritic(critic),
      algorithm: engineAlgorithm(algorithm),
    }
  })
}
