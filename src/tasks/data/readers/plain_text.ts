// Reads plain text: every line is a row of the column `text`, as Hugging Face's
// `load_dataset('text')` has it. Empty lines are kept: they are text.
import { refuseRows, type Table } from '../table/table.ts'
import type { Reader } from './reader.ts'

function readText(text: string, file: string): Table {
  const lines = text.replaceAll('\r\n', '\n').replace(/\n$/, '').split('\n')
  refuseRows(file, lines.length)
  return {
    columns: ['text'],
    rows: text.trim() === '' ? [] : lines.map((line) => [line]),
    notes: [],
    placeOf: (row) => `line ${row + 1}`,
  }
}

export const plainText: Reader = { extensions: ['txt', 'text', 'md'], readText }
