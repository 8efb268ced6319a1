// A data set as a task: its rows in the place of generated problems, and the right answer in full as the only good one.
import { twoWords, uniform } from '../problems.ts'
import type { Sample, Task } from '../task.ts'
import { arithmetic } from '../tokenizers/arithmetic.ts'
import type { DataRow } from './verl_rows.ts'

/** What an experiment says of its data set: enough for every check and every buffer, without the rows. */
export interface DataChoice {
  readonly id: 'dataset'
  /** Hash of the file: `sha256-` and 64 hexadecimal digits. */
  readonly data: string
  /** What a person calls it. */
  readonly name: string
  /** Hash and name of the file of held-out rows; '' where they are a part of the other. */
  readonly val_data: string
  readonly val_name: string
  readonly max_prompt_length: number
  readonly max_response_length: number
  readonly train_size: number
  readonly test_size: number
}

/** Rows to train on, and rows that are held out. */
export interface DataSet {
  readonly train: readonly DataRow[]
  readonly test: readonly DataRow[]
}

/** Data sets of this process, by hash: an experiment names one, and whoever starts a run brings it. */
const loaded = new Map<string, DataSet>()

/** Makes the rows of a data set known under its hash. Throws RangeError where one prompt has two answers. */
export function loadDataSet(data: string, set: DataSet): void {
  answersOf(set)
  loaded.set(data, set)
}

/** The answer to every prompt: a response is scored by its prompt. */
function answersOf({ train, test }: DataSet): ReadonlyMap<string, string> {
  const answers = new Map<string, string>()
  for (const { prompt, ground_truth } of [...train, ...test]) {
    const known = answers.get(prompt)
    if (known !== undefined && known !== ground_truth)
      throw new RangeError(
        `data: expected one answer to every prompt, found '${known}' and '${ground_truth}' for '${prompt}'`,
      )
    answers.set(prompt, ground_truth)
  }
  return answers
}

/**
 * The task of a data set. Its sizes are known without the rows; `sample` and `score` throw RangeError where nobody has loaded
 * them. Reward: 1 for exactly the right answer, else 0.
 */
export function dataTask(choice: DataChoice): Task {
  const { data, name, max_prompt_length, max_response_length, train_size, test_size } = choice
  const rows = (): DataSet => {
    const set = loaded.get(data)
    if (!set)
      throw new RangeError(`task: the data set ${name} (${data}) is not here; give its file again`)
    return set
  }
  let answers: ReadonlyMap<string, string> | undefined
  return {
    id: choice.id,
    tokenizer: arithmetic,
    ...{ max_prompt_length, max_response_length, train_size, test_size },
    exact_match: true,
    sample(seed, index, split) {
      const { train, test } = rows()
      if (split === 'test') return sampleOf(test[index % test.length])
      if (split === 'train_set') return sampleOf(train[index % train.length])
      const chance = uniform([...twoWords(seed), ...twoWords(index)])
      return sampleOf(train[Math.floor(chance * train.length)])
    },
    score(prompt, response) {
      answers ??= answersOf(rows())
      return response === answers.get(prompt) ? 1 : 0
    },
  }
}

const sampleOf = ({ prompt, ground_truth }: DataRow): Sample => ({
  prompt,
  ground_truth,
  demonstration: ground_truth,
})
