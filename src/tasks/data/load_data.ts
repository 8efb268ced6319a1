// Turns the files of a data set into the task of an experiment.

import { type DataChoice, loadDataSet } from './data_task.ts'
import type { TokenizerSource } from './make_tokenizer.ts'
import type { DataPlan, Prepared } from './plan.ts'
import { prepareData } from './prepare.ts'
import { readRows } from './readers/readers.ts'
import { type DataFile, DataFileError } from './table/data_file.ts'

/** Reads the files and makes their rows ready. Throws DataFileError naming file, row and column. */
export async function prepareFiles(
  train: DataFile,
  val: DataFile | undefined,
  plan: DataPlan,
  source?: TokenizerSource,
): Promise<Prepared> {
  return prepareData(await readRows(train), val && (await readRows(val)), plan, source)
}

/** What an experiment says of the data: the plan, with the sizes that were found. */
export function choiceOf(
  files: Pick<DataChoice, 'data' | 'name' | 'val_data' | 'val_name'> &
    Partial<Pick<DataChoice, 'tokenizer_data' | 'tokenizer_name'>>,
  plan: DataPlan,
  prepared: Prepared,
): DataChoice {
  const { tokenizer, train, test, verdicts, max_prompt_length, max_response_length } = prepared
  return {
    ...plan,
    id: 'dataset',
    ...files,
    tokenizer_data: files.tokenizer_data ?? null,
    tokenizer_name: files.tokenizer_name ?? null,
    answers: prepared.answers,
    train_pairs: pairsOf(train),
    test_pairs: pairsOf(test),
    train_undesirable: verdicts ? pairsOf(verdicts.train) : 0,
    test_undesirable: verdicts ? pairsOf(verdicts.test) : 0,
    vocab_size: tokenizer.vocab_size,
    max_prompt_length,
    max_response_length,
    train_size: train.length,
    test_size: test.length,
  }
}

/** Worse answers of rows. */
const pairsOf = (rows: Prepared['train']): number =>
  rows.reduce((sum, { rejected }) => sum + (rejected?.length ?? 0), 0)

/** Reads files and makes their rows ready: `prepareFiles`, or a worker that does the same. */
export type Prepare = (
  train: DataFile,
  val: DataFile | undefined,
  plan: DataPlan,
  source: TokenizerSource,
) => Promise<Prepared>

/** What is found in the rows. */
const FOUND = [
  ...(['vocab_size', 'train_size', 'test_size'] as const),
  ...(['answers', 'train_pairs', 'test_pairs'] as const),
  ...(['train_undesirable', 'test_undesirable'] as const),
]

/** Documents of earlier versions do not say how many bad answers there are. */
const isUntold = (name: (typeof FOUND)[number], choice: DataChoice): boolean =>
  name.endsWith('_undesirable') && choice[name] === 0

/** Makes the rows known to the task that `choice` says. Throws DataFileError where they are not
 * what it says of them. */
export async function loadDataFiles(
  choice: DataChoice,
  train: DataFile,
  val: DataFile | undefined,
  source: TokenizerSource = {},
  prepare: Prepare = prepareFiles,
): Promise<void> {
  const prepared = await prepare(train, val, choice, source)
  const found = { ...choiceOf(choice, choice, prepared) }
  for (const name of FOUND)
    if (found[name] !== choice[name] && !isUntold(name, choice))
      throw new DataFileError(
        `${train.name}: expected ${choice[name]} (task.${name}), found ${found[name]}`,
      )
  loadDataSet(choice, prepared)
}
