// Estimates the work of a step: arithmetic, dispatches and readbacks. A run counts its own
// dispatches exactly (metric perf/dispatches).

import { writerOf } from '../../../rl/config/distillation.ts'
import type { PhaseDocument, RlDocument } from '../fields/phases.ts'
import { taskOf } from '../fields/task_fields.ts'
import { hasCritic, settingsOf } from '../schema/phase_settings.ts'
import type { Experiment } from '../schema/schema.ts'
import { forwardCost, plannedStep } from './costs.ts'

export interface StepWork {
  /** Operations in matrix products, 10⁹. */
  readonly arithmetic: number
  readonly dispatches: number
  /** Times that the CPU waits for numbers of the GPU. */
  readonly rounds: number
}

/** Dispatches of parts of a step: for each block, and besides them. */
const PASS = [8, 10] as const
const UPDATE = [16, 45] as const
const DECODED = [5, 10] as const
/** A backward pass costs two forward ones. */
const TRAINED = 3

const dispatchesOf = ([each, besides]: readonly [number, number], { model }: Experiment): number =>
  each * model.num_hidden_layers + besides

const lengths = ({ task, rollout }: Pick<Experiment, 'task' | 'rollout'>) => ({
  prompt: taskOf(task).max_prompt_length,
  response: rollout.max_response_length,
})

function rlWork(experiment: Experiment, phase: RlDocument): StepWork {
  const settings = settingsOf(experiment, phase)
  const { actor, rollout } = settings
  const { response } = lengths({ task: experiment.task, rollout })
  const updates = actor.ppo_epochs * Math.ceil(rollout.train_batch_size / actor.ppo_mini_batch_size)
  const withCritic = hasCritic(settings)
  return {
    arithmetic: plannedStep(experiment, phase).arithmetic,
    dispatches:
      2 * dispatchesOf(PASS, experiment) +
      response * dispatchesOf(DECODED, experiment) +
      (withCritic ? 2 : 1) * updates * dispatchesOf(UPDATE, experiment),
    rounds: withCritic ? 3 : 2,
  }
}

/** One step of a phase. */
export function stepWork(experiment: Experiment, phase: PhaseDocument): StepWork {
  if (phase.kind === 'rl') return rlWork(experiment, phase)
  const { prompt, response } = lengths(experiment)
  // A pair is two rows.
  const rows = phase.batch_size * (phase.kind === 'sft' || phase.kind === 'distill' ? 1 : 2)
  const tokens = rows * (prompt + response)
  return {
    // The teacher's forward pass comes on top.
    arithmetic:
      ((TRAINED + (phase.kind === 'distill' ? 1 : 0)) * forwardCost(experiment) * tokens) / 1e9,
    // Pairs are scored before the update, whose gradient comes from their scores.
    dispatches:
      dispatchesOf(UPDATE, experiment) +
      (phase.kind === 'preference' || phase.kind === 'distill'
        ? dispatchesOf(PASS, experiment)
        : 0) +
      (phase.kind === 'distill' && (phase.distillation.lmbda > 0 || writerOf(phase.distillation))
        ? response * dispatchesOf(DECODED, experiment)
        : 0),
    rounds: phase.kind === 'preference' || phase.kind === 'distill' ? 2 : 1,
  }
}

/** One validation: a greedy response and the sampled ones to each prompt. */
export function validationWork(experiment: Experiment): StepWork {
  const { prompts, n } = experiment.validation
  const { prompt, response } = lengths(experiment)
  const tokens = prompts * (1 + n) * (prompt + response)
  return {
    arithmetic: (forwardCost(experiment) * tokens) / 1e9,
    dispatches: 2 * (dispatchesOf(PASS, experiment) + response * dispatchesOf(DECODED, experiment)),
    rounds: 2,
  }
}
