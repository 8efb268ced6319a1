// Declares the task of an experiment: its id and its parameters, as the tasks declare them.
import * as z from 'zod/mini'
import {
  boolean,
  type FieldInfo,
  filled,
  integer,
  type Leaf,
  number,
  oneOf,
  select,
  selectOrNone,
  type Tree,
  text,
} from '../../../rl/fields/field.ts'
import { type DataChoice, dataTask } from '../../../tasks/data/data_task.ts'
import { DATA_TOKENIZERS } from '../../../tasks/data/data_tokenizer.ts'
import { ANSWER_TYPES } from '../../../tasks/data/rows/row.ts'
import {
  MOST_ROWS,
  NO_COLUMNS,
  ROW_FORMATS,
  VERL_MAPPING,
} from '../../../tasks/data/table/data_file.ts'
import { createTask, TASKS } from '../../../tasks/index.ts'
import type { Task, TaskKind } from '../../../tasks/task/task.ts'
import { isContentHash } from '../../content/content.ts'
import { MAX_VOCABULARY } from './model_fields.ts'

/** The task's id and its parameters, e.g. { id: 'sort_digits', digits: 6 }. */
export interface TaskChoice {
  readonly id: string
  readonly [param: string]: string | number | boolean | null
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
    { label, help, default: null, none: '', max: 71 },
    { holds: isContentHash, expected: "'sha256-' and 64 digits" },
  )

const fileName = (label: string) =>
  text({ label, help: 'What it is called.', default: null, none: '', max: 80 })

const column = (label: string, help: string, fallback: string | null = null) =>
  text({ label, help, default: fallback, none: '', max: 120 })

const pairs = (label: string, help: string, unit = 'pairs') =>
  integer({ label, help, default: 0, min: 0, max: MOST_ROWS, unit })

/** What an experiment says of a data set; what loads the files fills it in. */
const DATASET: Tree<Omit<DataChoice, 'id'>> = {
  data: hash('File', 'The hash of the data file.'),
  name: fileName('Data set'),
  val_data: hash(
    'Held-out file',
    'The hash of the file with held-out rows; none where they are a part of the other.',
  ),
  val_name: fileName('Held-out set'),
  row_format: select({ label: 'A row is', help: 'What a row of the file holds.' }, ROW_FORMATS),
  prompt_key: column(
    'Prompt column',
    'The column with the prompts, as text or as messages, or with conversations; none where the rows are text to continue, or pairs of conversations.',
    VERL_MAPPING.prompt_key,
  ),
  input_key: column('Input column', 'What the prompt is about; joined to it by the template.'),
  prompt_template: text({
    label: 'Prompt template',
    help: 'How {instruction} and {input} become a prompt, \\n for an end of line; with an empty input, what stands between the two is left out.',
    default: NO_COLUMNS.prompt_template,
    max: 2000,
  }),
  system_key: column('System column', 'What the system says before the prompt.'),
  answer_key: column(
    'Answer column',
    'The column with the right answers; a dot leads into a column that holds objects; none where there are prompts alone.',
    VERL_MAPPING.answer_key,
  ),
  every_turn: boolean({
    label: 'Learn every answer of a conversation',
    help: 'Otherwise the last answer is learnt, and what is before it is the prompt.',
    default: false,
  }),
  chosen_key: column('Better answers', 'The column with the better answer of a pair.'),
  rejected_key: column('Worse answers', 'The column with the worse answer of a pair.'),
  label_key: column('Verdicts', 'The column that says whether an answer is good.'),
  reward_fn_key: column(
    'Source column',
    'The column that says where a problem comes from, for reward functions; a file need not have it.',
    VERL_MAPPING.reward_fn_key,
  ),
  answers: selectOrNone(
    {
      label: 'Right answers',
      help: 'What the right answers of the rows are, as found.',
      default: 'text',
      none: 'none',
    },
    ANSWER_TYPES,
  ),
  tokenizer: select(
    { label: 'Tokenizer', help: 'What a token is; a model has the vocabulary of its tokenizer.' },
    DATA_TOKENIZERS,
  ),
  tokenizer_data: hash(
    'Tokenizer file',
    'The hash of the tokenizer’s file; none for the lab’s own.',
  ),
  tokenizer_name: fileName('Tokenizer file'),
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
  train_pairs: pairs(
    'Pairs',
    'Pairs of a better and a worse answer to train a reward model on, as found.',
  ),
  test_pairs: pairs('Held-out pairs', 'Pairs with held-out prompts, as found.'),
  train_undesirable: pairs(
    'Bad answers',
    'Of single verdicts, the bad answers, as found.',
    'answers',
  ),
  test_undesirable: pairs(
    'Held-out bad answers',
    'Those to held-out prompts, as found.',
    'answers',
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

type TaskLeaves = Readonly<Record<string, Leaf<number> | Leaf<string | null> | Leaf<boolean>>>

/** What `task.id` is in forms, which add the data set that is there. */
export const TASK_ID = {
  label: 'Task',
  help: 'What the model learns to do; a program checks every answer.',
  unit: '',
  kind: 'select',
  options: TASKS.map(({ id, name }) => ({ value: id, label: name })),
  default: TASKS[0].id,
  live: false,
} as const satisfies FieldInfo

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
