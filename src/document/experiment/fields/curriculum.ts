// Declares the levels of a curriculum: the task at the values that one of its parameters goes
// through.
import type { Curriculum } from '../../../rl/config/data.ts'
import type { TaskLevel } from '../../../rl/config/trainer_config.ts'
import { TASKS } from '../../../tasks/index.ts'
import type { Sample, TaskParam } from '../../../tasks/task/task.ts'
import { type TaskChoice, taskOf } from './task_fields.ts'

/** What an experiment says of it. */
interface Taught {
  readonly task: TaskChoice
  readonly data: { readonly curriculum: Curriculum }
}

/** Values that a curriculum goes through at most. */
const MOST_LEVELS = 64

/** The parameters that the task of an experiment has. */
export const taskParams = ({ task }: Pick<Taught, 'task'>): readonly TaskParam[] =>
  TASKS.find(({ id }) => id === task.id)?.params ?? []

/** The first value of a parameter from which at most that many lead to `own`. */
export const firstValue = ({ min, step }: TaskParam, own: number): number =>
  Math.max(min, own - MOST_LEVELS * step)

/** The tasks that come before the experiment's own, easiest first; none without a curriculum, or
 * where its first value is none of the parameter. */
export function easierTasks({ task, data }: Taught): TaskLevel[] {
  const { param } = data.curriculum
  const found = taskParams({ task }).find(({ name }) => name === param)
  if (param === null || !found) return []
  const start = data.curriculum.start ?? firstValue(found, Number(task[param]))
  if (start < found.min) return []
  const levels: TaskLevel[] = []
  // Counted: sums of a step such as 0.1 drift.
  for (let i = 0; start + i * found.step < Number(task[param]); i++) {
    const value = start + i * found.step
    levels.push({ value, task: taskOf({ ...task, [param]: value }) })
  }
  return levels
}

/** Problems of each level that are tried. */
const TRIED = 8

/** Whether one model can learn all levels, and the task itself scores their answers. Levels that
 * cannot be, such as words whose longest length is below the shortest, are none. */
export function fitsTask(experiment: Taught): boolean {
  const task = taskOf(experiment.task)
  const isRight = ({ prompt, ground_truth }: Sample) => task.score(prompt, ground_truth) === 1
  try {
    return easierTasks(experiment).every(
      ({ task: easier }) =>
        easier.tokenizer === task.tokenizer &&
        easier.max_prompt_length <= task.max_prompt_length &&
        easier.max_response_length <= task.max_response_length &&
        Array.from({ length: TRIED }, (_, i) => easier.sample(1, i, 'train')).every(isRight),
    )
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}
