// From the files of a data set to its rows, as the task of an experiment takes them.
import { type DataChoice, type DataSet, loadDataSet } from './data_task.ts'
import { DataFileError, type DataRow, readVerlRows } from './verl_rows.ts'

/** A file as it was dropped or named. */
export interface DataFile {
  readonly name: string
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** Of a file without one for validation, this share of the rows is held out: its last ones. */
const HELD_OUT_SHARE = 0.2
const MOST_HELD_OUT = 512

/** The rows to train on and those held out. Throws DataFileError naming file and row. */
export function readDataFiles(train: DataFile, val: DataFile | undefined): DataSet {
  const [rows, held_out] = [train, val].map((file) => file && rowsOf(file))
  return held_out ? { train: rows ?? [], test: held_out } : split(rows ?? [], train.name)
}

/** Makes the rows known to the task that `choice` says. Throws DataFileError where they are not what it says of them. */
export async function loadDataFiles(
  choice: DataChoice,
  train: DataFile,
  val: DataFile | undefined,
): Promise<void> {
  const set = readDataFiles(train, val)
  for (const part of ['train', 'test'] as const)
    if (set[part].length !== choice[`${part}_size`])
      throw new DataFileError(
        `${train.name}: expected ${choice[`${part}_size`]} rows (task.${part}_size), found ${set[part].length}`,
      )
  loadDataSet(choice.data, set)
}

function rowsOf({ name, bytes }: DataFile): DataRow[] {
  return readVerlRows(new TextDecoder().decode(bytes), name)
}

function split(rows: readonly DataRow[], file: string): DataSet {
  const count = Math.min(MOST_HELD_OUT, Math.floor(rows.length * HELD_OUT_SHARE))
  if (count === 0)
    throw new DataFileError(
      `${file}: expected 5 rows or more, a fifth of which is held out; give others with --val-data`,
    )
  return { train: rows.slice(0, -count), test: rows.slice(-count) }
}
