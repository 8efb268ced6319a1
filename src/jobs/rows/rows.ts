// Writes the problems of a job as Parquet, in the rows that verl's RLHFDataset reads: TRL and the
// fork read them too.
import { parquetWriteBuffer } from 'hyparquet-writer'
import type { OutFile } from '../../formats/out_file.ts'
import { type Data, hasSet } from '../../rl/config/data.ts'
import type { Json } from '../../tasks/task/json.ts'
import type { Sample, Split, Task } from '../../tasks/task/task.ts'
import { type Element, truthSchema, truthValue } from './truth_schema.ts'

/** Where the training problems of a job begin in the endless stream of a run, and how many there
 * are. */
export interface RowRange {
  readonly seed: number
  readonly data: Data
  /** Problems that were drawn before. */
  readonly first: number
  /** Problems that the job draws: steps times prompts per step. */
  readonly count: number
}

/** Rows of a file at most: what a browser makes in a moment. A longer job goes through them
 * again. */
const MOST_ROWS = 100_000

/** Training rows of a job: the whole set, or one for every problem that the job draws. */
export const trainRows = ({ data, count }: Pick<RowRange, 'data' | 'count'>): number =>
  data.train_max_samples ?? Math.min(count, MOST_ROWS)

/** One row; the fields are verl's. */
interface Row {
  readonly data_source: string
  readonly prompt: readonly { readonly role: string; readonly content: string }[]
  readonly ability: string
  /** ground_truth is text, but for rows whose right answers are objects or lists. */
  readonly reward_model: { readonly style: string; readonly ground_truth: Json }
  /** reward.py reads the prompt. */
  readonly extra_info: { readonly split: string; readonly index: bigint; readonly prompt: string }
}

/** The name of a task's rows: what reward functions and metrics are told apart by. */
export const dataSource = (task: Task): string => `understory/${task.id}`

/** The conversation of a row: its messages, which the model's own chat template writes as the lab
 * has written them; else the prompt as what the user says. */
export const jobMessages = ({ messages, prompt }: Sample): Row['prompt'] =>
  messages?.map(({ role, content }) => ({ role, content: `${content}` })) ?? [
    { role: 'user', content: prompt },
  ]

const rowOf = (task: Task, sample: Sample, split: 'train' | 'test', index: number): Row => ({
  data_source: dataSource(task),
  prompt: jobMessages(sample),
  ability: task.id,
  reward_model: { style: 'rule', ground_truth: sample.truth ?? sample.ground_truth },
  extra_info: { split, index: BigInt(index), prompt: sample.prompt },
})

/** data/train.parquet: the problems that the run itself would have drawn next, in that order. */
export function trainFile(task: Task, range: RowRange): OutFile {
  const { seed, data, first } = range
  const split: Split = hasSet(data) ? 'train_set' : 'train'
  const start = hasSet(data) ? 0 : first
  return parquetFile('data/train.parquet', trainRows(range), (i) =>
    rowOf(task, task.sample(seed, start + i, split), 'train', start + i),
  )
}

/** data/val.parquet: the first of the problems that are held out, each once. */
export const valFile = (task: Task, prompts: number): OutFile =>
  parquetFile('data/val.parquet', Math.min(prompts, task.test_size), (i) =>
    rowOf(task, task.sample(0, i, 'test'), 'test', i),
  )

const text = { type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' } as const
const group = (name: string, num_children: number, extra = {}) => ({
  name,
  num_children,
  repetition_type: 'OPTIONAL' as const,
  ...extra,
})

/** Every file has these types, also where a column would look like another one; `truth` is that of
 * the right answers. */
const schemaOf = (truth: readonly Element[]) => [
  { name: 'root', num_children: 5 },
  { name: 'data_source', ...text },
  group('prompt', 1, { converted_type: 'LIST' }),
  { name: 'list', num_children: 1, repetition_type: 'REPEATED' as const },
  group('element', 2),
  { name: 'role', ...text },
  { name: 'content', ...text },
  { name: 'ability', ...text },
  group('reward_model', 2),
  { name: 'style', ...text },
  ...truth,
  group('extra_info', 3),
  { name: 'split', ...text },
  { name: 'index', type: 'INT64' as const, repetition_type: 'OPTIONAL' as const },
  { name: 'prompt', ...text },
]

const written = ({ style, ground_truth }: Row['reward_model'], truth: readonly Element[]) => ({
  style,
  ground_truth: truthValue(ground_truth, truth),
})

/** A file of `count` rows, which are made when it is written. */
function parquetFile(path: string, count: number, rowAt: (i: number) => Row): OutFile {
  const COLUMNS = ['data_source', 'prompt', 'ability', 'reward_model', 'extra_info'] as const
  function* pieces() {
    const rows = Array.from({ length: count }, (_, i) => rowAt(i))
    const truths = rows.map(({ reward_model }) => reward_model.ground_truth)
    const truth = truthSchema('ground_truth', truths)
    const columnData = COLUMNS.map((name) => ({
      name,
      data: rows.map((row) =>
        name === 'reward_model' ? written(row.reward_model, truth) : row[name],
      ),
    }))
    yield new Uint8Array(parquetWriteBuffer({ columnData, schema: schemaOf(truth) }))
  }
  return { path, pieces: { [Symbol.iterator]: pieces } }
}
