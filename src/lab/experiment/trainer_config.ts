// From the experiment document to what the trainer takes.
import type { TrainerConfig } from '../../rl/config/trainer_config.ts'
import { createReward } from '../../tasks/rewards/composed.ts'
import { createTools } from '../../tasks/tools/index.ts'
import { modelConfig } from './model_config.ts'
import { taskOf } from './fields/task_fields.ts'
import { resolvePhases } from './resolve.ts'
import type { Experiment } from './schema.ts'

/** The trainer's configuration: the task and its reward made, phases resolved, the size of the task's vocabulary filled in. */
export function trainerConfig(experiment: Experiment): TrainerConfig {
  const { seed, data, validation, probe } = experiment
  const task = taskOf(experiment.task)
  return {
    seed,
    task,
    ...(experiment.tools.length > 0 && { tools: createTools(experiment.tools, experiment.reward) }),
    reward: createReward(experiment.reward, task),
    model: modelConfig(experiment.model, task.tokenizer.vocab_size),
    phases: resolvePhases(experiment),
    data,
    validation,
    probe,
    enable_gradient_checkpointing: experiment.model.enable_gradient_checkpointing,
  }
}
