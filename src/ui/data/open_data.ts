// Which data file the dialog shows. Reading one is loaded with the dialog.
import { createStore } from 'zustand/vanilla'
import { showDialog } from '../palette/dialogs.ts'

/** The file that was dropped or chosen last; undefined before there is one. `tokenizer`: that of the model that will read the rows. */
export const openedDataStore = createStore<{
  readonly file: File | undefined
  readonly tokenizer: readonly File[]
}>(() => ({ file: undefined, tokenizer: [] }))

/** Opens the dialog, with a file if there is one. */
export function openData(file?: File): void {
  if (file) openedDataStore.setState({ file })
  showDialog('data')
}

const HEAD_BYTES = 4096
/** Formats that hold nothing but rows or text. */
const ROWS = /\.(csv|tsv|parquet|pq|txt|text|md|ndjson)$/i
/** A list, or an object with a list of rows; an experiment has neither at its beginning. */
const LIST = /^\s*(\[|\{[^{[]*"(rows|data)"\s*:\s*\[)/
/** How each line of a log of verl begins. */
const LOG_LINE = /^\s*\{\s*"step"\s*:\s*\d+\s*,\s*"data"\s*:/

/** Whether a file holds rows to train on, by its name and its first bytes, rather than an experiment or a log. */
export async function isData(file: File): Promise<boolean> {
  if (ROWS.test(file.name)) return !/tfevents/.test(file.name)
  if (!/\.jsonl?$/i.test(file.name)) return false
  const head = await file.slice(0, HEAD_BYTES).text()
  return /\.json$/i.test(file.name) ? LIST.test(head) : !LOG_LINE.test(head)
}
