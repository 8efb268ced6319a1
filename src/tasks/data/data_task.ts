// Makes a task of a data set: its rows in the place of generated problems, and a right answer in
// full as the only good one.
import { twoWords, uniform } from '../task/problems.ts'
import type { Sample, Task, TaskVerdict } from '../task/task.ts'
import type { Tokenizer } from '../tokenizers/tokenizer.ts'
import { ownTokenizer, unknownTokenizer } from './data_tokenizer.ts'
import type { DataPlan } from './plan.ts'
import { type AnswerType, type DataRow, textOfTruth } from './rows/row.ts'
import type { SplitRows } from './split.ts'

/** What an experiment says of its data set: enough for every check and every buffer, without the
 * rows. */
export interface DataChoice extends DataPlan {
  readonly id: 'dataset'
  /** Hash of the file: `sha256-` and 64 hexadecimal digits. */
  readonly data: string | null
  /** What a person calls it. */
  readonly name: string | null
  /** Hash and name of the file of held-out rows; null where they are a part of the other. */
  readonly val_data: string | null
  readonly val_name: string | null
  /** Hash and name of the tokenizer's file; null where the tokenizer is none. */
  readonly tokenizer_data: string | null
  readonly tokenizer_name: string | null
  /** These three and `test_size` are as found. */
  readonly vocab_size: number
  readonly max_prompt_length: number
  readonly max_response_length: number
  readonly train_size: number
  readonly test_size: number
  /** What the right answers are, as found; null = there are none. */
  readonly answers: AnswerType | null
  /** Pairs of a better and a worse answer, as found: to train a reward model on, and held out. */
  readonly train_pairs: number
  readonly test_pairs: number
  /** Of single verdicts, the bad answers, as found; the good ones are the rows. */
  readonly train_undesirable: number
  readonly test_undesirable: number
}

/** Rows to train on, rows that are held out, and their tokenizer. */
export interface DataSet extends SplitRows {
  readonly verdicts?: SplitRows
  readonly tokenizer: Tokenizer
}

/** Data sets of this process: an experiment names one, and the caller of a run brings it. */
const loaded = new Map<string, DataSet>()

/** The same for everything that decides the rows. */
const keyOf = (choice: DataChoice): string => JSON.stringify(Object.entries(choice).sort())

/** Makes the rows of a data set known. The last one is kept: rows take memory, and a page has one
 * experiment at a time and one run. */
export function loadDataSet(choice: DataChoice, set: DataSet): void {
  const key = keyOf(choice)
  loaded.delete(key)
  loaded.set(key, set)
  const MOST_SETS = 4
  for (const oldest of loaded.keys()) if (loaded.size > MOST_SETS) loaded.delete(oldest)
}

/** The answers to every prompt: a response is scored by its prompt. */
function answersOf({ train, test }: DataSet): ReadonlyMap<string, ReadonlySet<string>> {
  const answers = new Map<string, Set<string>>()
  for (const { prompt, ground_truth } of [...train, ...test]) {
    const own = answers.get(prompt) ?? new Set()
    answers.set(prompt, own.add(textOfTruth(ground_truth)))
  }
  return answers
}

/** The task of a data set. Its sizes are known without the rows; `sample`, `score` and its
 * tokenizer throw RangeError where nobody has loaded them. Reward: 1 for exactly a right answer,
 * else 0; of text, how much of the beginning is continued as the text does. */
export function dataTask(choice: DataChoice): Task {
  const { data, name, max_prompt_length, max_response_length, train_size, test_size } = choice
  const refuse = (): never => {
    throw new RangeError(
      `task: the data set ${name ?? 'without a name'} (${data}) is not here; give its file again`,
    )
  }
  const key = keyOf(choice)
  const rows = (): DataSet => loaded.get(key) ?? refuse()
  let answers: ReadonlyMap<string, ReadonlySet<string>> | undefined
  const isText = choice.prompt_key === null && choice.row_format === 'answers'
  return {
    id: choice.id,
    tokenizer: tokenizerOf(choice, loaded.get(key), refuse),
    max_prompt_length,
    max_response_length,
    train_size,
    test_size,
    exact_match: !isText && choice.answers === 'text',
    ...(isText && { partial_score: 'how much of its beginning is that of the text' }),
    sample(seed, index, split) {
      const { train, test } = rows()
      if (split === 'test') return sampleOf(test[index % test.length])
      if (split === 'train_set') return sampleOf(train[index % train.length])
      const chance = uniform([...twoWords(seed), ...twoWords(index)])
      return sampleOf(train[Math.floor(chance * train.length)])
    },
    ...(choice.row_format === 'verdicts' && {
      verdicts: (split: 'train_set' | 'test') =>
        rows().verdicts?.[split === 'test' ? 'test' : 'train'].map(verdictOf) ?? [],
    }),
    score(prompt, response) {
      answers ??= answersOf(rows())
      const right = answers.get(prompt)
      if (isText) return Math.max(0, ...[...(right ?? [])].map((text) => agreeing(text, response)))
      return right?.has(response) ? 1 : 0
    },
  }
}

function tokenizerOf(
  { tokenizer, vocab_size }: DataChoice,
  set: DataSet | undefined,
  refuse: () => never,
): Tokenizer {
  if (set) return set.tokenizer
  return ownTokenizer(tokenizer) ?? unknownTokenizer(vocab_size, refuse)
}

/** The share of a text, from its beginning, that a response has too. */
function agreeing(text: string, response: string): number {
  let same = 0
  while (same < text.length && text[same] === response[same]) same++
  return text.length === 0 ? 0 : same / text.length
}

/** One row of single verdicts. */
function verdictOf(row: DataRow): TaskVerdict {
  const sample = sampleOf(row)
  const [bad] = row.rejected ?? []
  return { sample, response: bad ?? sample.demonstration, is_desirable: bad === undefined }
}

function sampleOf({ ground_truth, conversation: _, ...row }: DataRow): Sample {
  const text = textOfTruth(ground_truth)
  const truth = typeof ground_truth === 'string' ? {} : { truth: ground_truth }
  return { ...row, ...truth, ground_truth: text, demonstration: text }
}
