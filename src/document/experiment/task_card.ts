// Describes a task to somebody who chooses one: a sentence, how it scores, and a few of its
// problems.
import { TASKS } from '../../tasks/index.ts'
import { propertiesOf } from '../../tasks/properties.ts'
import { type TaskChoice, taskOf } from './fields/task_fields.ts'

export interface TaskCard {
  readonly summary: string
  /** What a score between 0 and 1 means; undefined where there is none. */
  readonly partial_score: string | undefined
  /** Held-out problems with one right answer each. */
  readonly problems: readonly { readonly prompt: string; readonly ground_truth: string }[]
}

/** The card of a task with its parameters, with its first `count` different held-out problems. */
export function taskCard(choice: TaskChoice, count: number): TaskCard {
  const task = taskOf(choice)
  return {
    summary: TASKS.find(({ id }) => id === choice.id)?.summary ?? '',
    partial_score: task.partial_score,
    problems: Array.from({ length: Math.min(count, task.test_size) }, (_, i) =>
      task.sample(0, i, 'test'),
    ),
  }
}

/** What probes can look for in its problems. */
export const taskProperties = ({ id }: TaskChoice) => propertiesOf(id)
