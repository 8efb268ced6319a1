// Reads JSON: a list of objects, by itself or as the one list of an object. A row of Hugging Face's
// rows API, {row: {…}}, is unpacked.
import type { Reading } from '../table/bad_rows.ts'
import { DataFileError } from '../table/data_file.ts'
import { type Cell, isObject, type Table, tableOfObjects } from '../table/table.ts'
import { parseJson } from './json_numbers.ts'
import { readJsonLines } from './jsonl.ts'
import type { Reader } from './reader.ts'

type Row = Readonly<Record<string, Cell>>
const own = (value: Row, name: string): unknown =>
  Object.hasOwn(value, name) ? value[name] : undefined

/** Sections that only an experiment has. */
const OF_EXPERIMENTS = ['version', 'task', 'phases', 'rollout', 'actor', 'critic', 'algorithm']

/** Whether a text in JSON holds rows, rather than an experiment, right or not. */
export function holdsRows(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value) && OF_EXPERIMENTS.some((name) => Object.hasOwn(value, name))) return false
    return listOfRows(value) !== undefined
  } catch {
    return JSON_LINES.test(text)
  }
}

/** JSON lines under the name of JSON. */
const JSON_LINES = /^\s*\{.*\}[ \t\r]*\n\s*\{/

/** The rows of a JSON value: the list that it is, that its `rows` or `data` is, or the only list of
 * objects in it; undefined where there is none. */
function listOfRows(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value
  if (!isObject(value)) return undefined
  const named = [own(value, 'rows'), own(value, 'data')].find(Array.isArray)
  if (named) return named
  const lists = Object.values(value).filter(
    (one): one is readonly Cell[] => Array.isArray(one) && one.length > 0 && one.every(isObject),
  )
  return lists.length === 1 ? lists[0] : undefined
}

function readText(text: string, file: string, reading: Reading): Table {
  let value: unknown
  try {
    value = parseJson(text)
  } catch (error) {
    if (JSON_LINES.test(text)) return readJsonLines(text, file, reading)
    const why = error instanceof Error ? error.message : String(error)
    throw new DataFileError(`${file}: expected JSON (${why.slice(0, 120)})`)
  }
  const list = listOfRows(value)
  if (!list)
    throw new DataFileError(
      `${file}: expected a list of objects, or an object with one such list, as in {"data": [...]}`,
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
