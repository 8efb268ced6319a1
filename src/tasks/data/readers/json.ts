// JSON: a list of objects, by itself or as `rows` or `data` of an object. A row of Hugging Face's rows API, {row: {…}}, is unpacked.
import type { Reading } from '../bad_rows.ts'
import { DataFileError } from '../data_file.ts'
import { type Cell, type Table, tableOfObjects } from '../table.ts'
import { readJsonLines } from './jsonl.ts'
import type { Reader } from './reader.ts'

type Row = Readonly<Record<string, Cell>>
const isObject = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const own = (value: Row, name: string): unknown =>
  Object.hasOwn(value, name) ? value[name] : undefined

function readText(text: string, file: string, reading: Reading): Table {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    // JSON lines under the name of JSON.
    if (/^\s*\{.*\}[ \t\r]*\n\s*\{/.test(text)) return readJsonLines(text, file, reading)
    const why = error instanceof Error ? error.message : String(error)
    throw new DataFileError(`${file}: expected JSON (${why.slice(0, 120)})`)
  }
  const list = Array.isArray(value)
    ? value
    : isObject(value)
      ? [own(value, 'rows'), own(value, 'data')].find(Array.isArray)
      : undefined
  if (!list)
    throw new DataFileError(
      `${file}: expected a list of objects, or an object with such a list as rows or data`,
    )
  const places: number[] = []
  const rows = list.flatMap((item: unknown, i): Row[] => {
    if (!isObject(item)) {
      reading.onBadRow(`${file}: row ${i + 1}: expected an object`)
      return []
    }
    places.push(i + 1)
    const inner = own(item, 'row')
    return [Object.hasOwn(item, 'row_idx') && isObject(inner) ? inner : item]
  })
  return tableOfObjects(file, rows, (row) => `row ${places[row]}`)
}

export const json: Reader = { extensions: ['json'], readText }
