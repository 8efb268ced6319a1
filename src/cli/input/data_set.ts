// Data files of a run: --data FILE and --val-data FILE, rows as verl reads them, scored by the exact answer.
import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import { type DataChoice, loadDataSet } from '../../tasks/data/data_task.ts'
import { type DataRow, readVerlRows } from '../../tasks/data/verl_rows.ts'
import { arithmetic } from '../../tasks/tokenizers/arithmetic.ts'
import { LabFailure, UsageError } from '../command.ts'
import type { DocumentChange } from './experiment_source.ts'
import { readText } from './input_file.ts'

/** Of a file without one for validation, this share of the rows is held out: its last ones. */
const HELD_OUT_SHARE = 0.2
const MOST_HELD_OUT = 512

/** What the command line says of data. */
export interface DataOptions {
  readonly data?: string | undefined
  readonly 'val-data'?: string | undefined
}

/** The data set of --data, made known; undefined where there is none. Throws LabFailure or UsageError. */
export function givenData(values: DataOptions): DataChoice | undefined {
  if (values.data !== undefined) return readDataSet(values.data, values['val-data'])
  if (values['val-data'] === undefined) return undefined
  throw new UsageError('--val-data: holds out rows for --data FILE; there is no --data')
}

/** An experiment on the rows, all of them in every epoch where it does not say how many. */
export const trainedOn =
  (task: DataChoice): DocumentChange =>
  ({ data }) => ({ task, data: { train_max_samples: task.train_size, ...(data as object) } })

/**
 * Reads the rows, makes them known to tasks and says what an experiment writes of them. Throws LabFailure for files that are no
 * such data, or that hold characters outside the vocabulary.
 */
export function readDataSet(train_file: string, val_file: string | undefined): DataChoice {
  try {
    const texts = [train_file, ...(val_file === undefined ? [] : [val_file])].map((file) =>
      readText(file),
    )
    const rows = readVerlRows(texts[0], train_file)
    const held_out = val_file === undefined ? undefined : readVerlRows(texts[1], val_file)
    const set = held_out ? { train: rows, test: held_out } : split(rows, train_file)
    const all = [...set.train, ...set.test]
    const data = `sha256-${createHash('sha256').update(texts.join('\0')).digest('hex')}`
    loadDataSet(data, set)
    return {
      id: 'dataset',
      data,
      name: basename(train_file),
      max_prompt_length: longest(all.map(({ prompt }) => prompt)),
      // The end token too.
      max_response_length: longest(all.map(({ ground_truth }) => ground_truth)) + 1,
      train_size: set.train.length,
      test_size: set.test.length,
    }
  } catch (error) {
    if (error instanceof LabFailure) throw error
    throw new LabFailure(`--data: ${error instanceof Error ? error.message : error}`)
  }
}

function split(rows: readonly DataRow[], file: string) {
  const count = Math.min(MOST_HELD_OUT, Math.floor(rows.length * HELD_OUT_SHARE))
  if (count === 0)
    throw new LabFailure(
      `--data: ${file}: expected 5 rows or more, a fifth of which is held out; give others with --val-data`,
    )
  return { train: rows.slice(0, -count), test: rows.slice(-count) }
}

const longest = (texts: readonly string[]): number =>
  texts.reduce((most, text) => Math.max(most, arithmetic.encode(text).length), 1)
