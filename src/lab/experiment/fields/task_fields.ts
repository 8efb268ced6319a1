// The task of an experiment: its id and its parameters, as the tasks declare them.
import * as z from 'zod/mini'
import { type DataChoice, dataTask } from '../../../tasks/data/data_task.ts'
import { createTask, TASKS } from '../../../tasks/index.ts'
import type { Task, TaskKind } from '../../../tasks/task.ts'
import { filled, integer, type Leaf, number, oneOf, type Tree, text } from './field.ts'

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

const size = (label: string, help: string, max: number, unit: string) =>
  integer({ label, help, default: 1, min: 1, max, unit })

/** What an experiment says of a data set; what loads the files fills it in. */
const DATASET: Tree<Omit<DataChoice, 'id'>> = {
  data: text(
    { label: 'Files', help: 'The hash of the data files.', default: '', max: 71 },
    { holds: (s) => /^(sha256-[0-9a-f]{64})?$/.test(s), expected: "'sha256-' and 64 digits" },
  ),
  name: text({ label: 'Data set', help: 'What it is called.', default: '', max: 80 }),
  max_prompt_length: size('Longest prompt', 'Of all its rows.', 1024, 'tokens'),
  max_response_length: size(
    'Longest answer',
    'Of all its rows, with the end token.',
    1024,
    'tokens',
  ),
  train_size: size('Rows', 'Rows to train on.', 100000, 'rows'),
  test_size: size('Held-out rows', 'Rows that validation asks.', 100000, 'rows'),
}

/** Its id as a task. */
export const DATASET_ID: DataChoice['id'] = 'dataset'

type TaskLeaves = Readonly<Record<string, Leaf<number> | Leaf<string>>>

/** The fields of every kind of task, by its id. */
export const TASK_PARAMS: ReadonlyMap<string, TaskLeaves> = new Map<string, TaskLeaves>([
  ...TASKS.map((kind) => [kind.id, taskLeaves(kind)] as const),
  [DATASET_ID, DATASET],
])

/** Parses a task choice alone. */
export const taskSchema = oneOf(
  'id',
  [...TASK_PARAMS.keys()],
  [...TASK_PARAMS].map(([id, params]) => filled(params, { id: z.literal(id) })),
) as z.ZodMiniType<TaskChoice>

/** The task an experiment trains on. */
export function taskOf(choice: TaskChoice): Task {
  if (choice.id === DATASET_ID) return dataTask(choice as unknown as DataChoice)
  const { id, ...params } = choice
  return createTask(id, params as Record<string, number>)
}
