// Turns the experiment document into what the trainer takes.
import type { TrainerConfig } from '../../rl/config/trainer_config.ts'
import { createReward } from '../../tasks/rewards/composed.ts'
import type { Task } from '../../tasks/task/task.ts'
import { createTools } from '../../tasks/tools/index.ts'
import { withToolPrompts } from '../../tasks/tools/tool_prompts.ts'
import { easierTasks } from './fields/curriculum.ts'
import { lensFilesOf } from './fields/lens_fields.ts'
import { modelConfig } from './fields/model_fields.ts'
import { taskOf } from './fields/task_fields.ts'
import { teacherConfig } from './fields/teacher_fields.ts'
import { resolvePhases } from './resolve.ts'
import type { Experiment } from './schema/schema.ts'

/** The trainer's configuration: the task and its reward made, phases resolved, the size of the
 * task's vocabulary filled in. */
export function trainerConfig(experiment: Experiment): TrainerConfig {
  const { seed, data, validation, probe } = experiment
  const phases = resolvePhases(experiment)
  const tools = createTools(experiment.tools, experiment.reward)
  const task = promptedTask(experiment)
  const easier = easierTasks(experiment)
  const value = Number(experiment.task[experiment.data.curriculum.param ?? ''])
  return {
    seed,
    task,
    ...(easier.length > 0 && { levels: [...easier, { value, task }] }),
    ...(tools.length > 0 && { tools }),
    reward: createReward(experiment.reward, task),
    model: modelConfig(experiment.model, task.tokenizer.vocab_size),
    teacher: teacherConfig(experiment.teacher, task.tokenizer.vocab_size),
    phases,
    lensFiles: lensFilesOf(experiment.model.lenses),
    data,
    validation,
    probe,
    enable_gradient_checkpointing: experiment.model.enable_gradient_checkpointing,
  }
}

/** The task as the model is asked it: with the tools in its prompts, where rows have several turns
 * and the tokenizer has a chat template. */
export function promptedTask(experiment: Experiment): Task {
  const hasTurns = resolvePhases(experiment).some(
    (phase) => phase.kind === 'rl' && (phase.rollout.max_turns ?? 1) > 1,
  )
  const tools = hasTurns ? createTools(experiment.tools, experiment.reward) : []
  return withToolPrompts(taskOf(experiment.task), tools)
}
