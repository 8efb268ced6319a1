// The task of an experiment: its id and its parameters, as the tasks declare them.
import * as z from 'zod/mini'
import { MOST_ROWS, VERL_MAPPING } from '../../../tasks/data/data_file.ts'
import { type DataChoice, dataTask } from '../../../tasks/data/data_task.ts'
import { DATA_TOKENIZERS } from '../../../tasks/data/data_tokenizer.ts'
import { createTask, TASKS } from '../../../tasks/index.ts'
import type { Task, TaskKind } from '../../../tasks/task.ts'
import { isContentHash } from '../../content/content.ts'
import {
  boolean,
  filled,
  integer,
  type Leaf,
  number,
  oneOf,
  select,
  type Tree,
  text,
} from './field.ts'
import { MAX_VOCABULARY } from './model_fields.ts'

/** The task's id and its parameters, e.g. { id: 'sort_digits', digits: 6 }. */
export interface TaskChoice {
  readonly id: string
  readonly [param: string]: string | number | boolean
}

const taskLeaves = ({ params }: TaskKind): Readonly<Record<string, Leaf<number>>> =>
  Object.fromEntries(
    params.map(({ name, ...said }) => [
      name,
      Number.isInteger(said.step) ? integer(said) : number(said),
    ]),
  )

const size = (label: string, help: string, max: number, unit: string, fallback = 1) =>
  integer({ label, help, default: fallback, min: 1, max, unit })

const hash = (label: string, help: string) =>
  text(
    { label, help, default: '', max: 71 },
    { holds: (s) => s === '' || isContentHash(s), expected: "'sha256-' and 64 digits" },
  )

/** What an experiment says of a data set; what loads the files fills it in. */
const DATASET: Tree<Omit<DataChoice, 'id'>> = {
  data: hash('File', 'The hash of the data file.'),
  name: text({ label: 'Data set', help: 'What it is called.', default: '', max: 80 }),
  val_data: hash(
    'Held-out file',
    'The hash of the file with held-out rows; empty where they are a part of the other.',
  ),
  val_name: text({ label: 'Held-out set', help: 'What it is called.', default: '', max: 80 }),
  prompt_key: text({
    label: 'Prompt column',
    help: 'The column with the prompts, as text or as messages; empty where the rows are text to continue.',
    default: VERL_MAPPING.prompt_key,
    max: 120,
  }),
  answer_key: text({
    label: 'Answer column',
    help: 'The column with the right answers; a dot leads into a column that holds objects.',
    default: VERL_MAPPING.answer_key,
    max: 120,
  }),
  reward_fn_key: text({
    label: 'Source column',
    help: 'The column that says where a problem comes from, for reward functions; a file need not have it.',
    default: VERL_MAPPING.reward_fn_key,
    max: 120,
  }),
  tokenizer: select(
    { label: 'Tokenizer', help: 'What a token is; a model has the vocabulary of its tokenizer.' },
    DATA_TOKENIZERS,
  ),
  tokenizer_data: hash(
    'Tokenizer file',
    'The hash of the tokenizer’s file; empty where it is none.',
  ),
  tokenizer_name: text({
    label: 'Tokenizer file',
    help: 'What it is called.',
    default: '',
    max: 80,
  }),
  vocab_size: size(
    'Vocabulary',
    'Tokens of the tokenizer, as found.',
    MAX_VOCABULARY,
    'tokens',
    26,
  ),
  max_prompt_length: size(
    'Longest prompt',
    'A row with a longer prompt is too long.',
    4096,
    'tokens',
  ),
  max_response_length: size(
    'Longest answer',
    'With the end token; a row with a longer answer is too long. Of text, the length of a row.',
    4096,
    'tokens',
  ),
  filter_overlong_prompts: boolean({
    label: 'Drop rows that are too long',
    help: 'Otherwise the first one is an error.',
    default: true,
  }),
  skip_bad_rows: boolean({
    label: 'Leave out rows that cannot be used',
    help: 'Such as a line that is no JSON, or an answer that is a list; otherwise the first one is an error.',
    default: false,
  }),
  train_size: size('Rows', 'Rows to train on, as found.', MOST_ROWS, 'rows'),
  test_size: size(
    'Held-out rows',
    'Rows that validation asks and training never sees.',
    MOST_ROWS,
    'rows',
  ),
  split_seed: integer({
    label: 'Split seed',
    help: 'Decides which prompts are held out; the seed of the run does not.',
    default: 0,
    min: 0,
    max: 4294967295,
  }),
}

/** Its id as a task. */
export const DATASET_ID: DataChoice['id'] = 'dataset'

type TaskLeaves = Readonly<Record<string, Leaf<number> | Leaf<string> | Leaf<boolean>>>

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
