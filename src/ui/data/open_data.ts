// Holds the data file that the dialog shows. Reading one is loaded with the dialog.
import { createStore } from 'zustand/vanilla'
import { labStore } from '../../page/state/store.ts'
import { showDialog } from '../open/dialogs.ts'

/** The file that was dropped or chosen last; undefined before there is one. `own`: the tokenizer of
 * the model that was put into the settings, and that model's hash. */
export const openedDataStore = createStore<{
  readonly file: File | undefined
  readonly own: { readonly model: string; readonly files: readonly File[] } | undefined
}>(() => ({ file: undefined, own: undefined }))

/** The files of the tokenizer that reads the rows: those of the model that the next run begins
 * with; none where the lab's vocabularies do. */
export function modelTokenizer(): readonly File[] {
  const { own } = openedDataStore.getState()
  const { source } = labStore.getState().experiment.model
  return own && source === own.model ? own.files : []
}

/** Opens the dialog, with a file if there is one. */
export function openData(file?: File): void {
  if (file) openedDataStore.setState({ file })
  showDialog('data')
}

/** A console shows how everything was loaded before its first step. */
const HEAD_BYTES = 2 ** 20
/** Formats that hold nothing but rows or text. */
const ROWS = /\.(csv|tsv|parquet|pq|txt|text|md|jsonl|ndjson)$/i
/** A list, or an object with a list of rows; an experiment has neither at its beginning. */
const LIST = /^\s*(\[|\{[^{[]*"(rows|data)"\s*:\s*\[)/

/** Whether a file holds rows to train on, by its name and its first bytes, rather than an
 * experiment or a log. */
export async function isData(file: File): Promise<boolean> {
  if (/tfevents/.test(file.name)) return false
  const isJson = /\.json$/i.test(file.name)
  if (!ROWS.test(file.name) && !isJson) return false
  const head = await file.slice(0, HEAD_BYTES).text()
  if (isJson && !LIST.test(head)) return false
  // Few people drop a file, and telling a log from rows takes the readers of logs.
  const { isLogFile } = await import('../../jobs/logs/text/told_by_head.ts')
  return !isLogFile(file.name, head)
}
