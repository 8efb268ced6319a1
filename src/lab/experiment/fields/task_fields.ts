// The task of an experiment: its id and its parameters, as the tasks declare them.
import * as z from 'zod/mini'
import { createTask, TASKS } from '../../../tasks/index.ts'
import type { Task, TaskKind } from '../../../tasks/task.ts'
import { filled, integer, type Leaf, number, oneOf } from './field.ts'

/** The task's id and its parameters, e.g. { id: 'sort_digits', digits: 6 }. */
export interface TaskChoice {
  readonly id: string
  readonly [param: string]: string | number
}

const taskLeaves = ({ params }: TaskKind): Readonly<Record<string, Leaf<number>>> =>
  Object.fromEntries(
    params.map(({ name, ...said }) => [
      name,
      Number.isInteger(said.step) ? integer(said) : number(said),
    ]),
  )

/** The fields of every kind of task, by its id. */
export const TASK_PARAMS: ReadonlyMap<string, Readonly<Record<string, Leaf<number>>>> = new Map(
  TASKS.map((kind) => [kind.id, taskLeaves(kind)]),
)

/** Parses a task choice alone. */
export const taskSchema = oneOf(
  'id',
  [...TASK_PARAMS.keys()],
  [...TASK_PARAMS].map(([id, params]) => filled(params, { id: z.literal(id) })),
) as z.ZodMiniType<TaskChoice>

/** The task an experiment trains on. */
export function taskOf(choice: TaskChoice): Task {
  const { id, ...params } = choice
  return createTask(id, params as Record<string, number>)
}
