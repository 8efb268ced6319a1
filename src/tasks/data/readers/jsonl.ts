// Reads JSON lines: an object on every line. Empty lines are left out.
import type { Reading } from '../table/bad_rows.ts'
import { type Cell, isObject, refuseRows, type Table, tableOfObjects } from '../table/table.ts'
import { parseJson } from './json_numbers.ts'
import type { Reader } from './reader.ts'

/** Python writes these where a number is none, and they are no JSON. */
const NOT_FINITE = /(?<![\w"])(-?Infinity|NaN)(?![\w"])/

/** Lines between two words on how far it is. */
const SOME_LINES = 4096

/** A line that is no object is a bad row. */
export function readJsonLines(
  text: string,
  file: string,
  { onBadRow, onProgress }: Reading,
): Table {
  const lines: number[] = []
  const objects: Readonly<Record<string, Cell>>[] = []
  let line = 0
  for (let from = 0; from < text.length; ) {
    const next = text.indexOf('\n', from)
    const end = next < 0 ? text.length : next
    const own = text.slice(from, end)
    from = end + 1
    if (++line % SOME_LINES === 0) onProgress?.(end / text.length)
    if (own.trim() === '') continue
    refuseRows(file, objects.length + 1)
    const object = parsed(own)
    if (typeof object === 'string') onBadRow(`${file}: line ${line}: ${object}`)
    else {
      objects.push(object)
      lines.push(line)
    }
  }
  return tableOfObjects(file, objects, (row) => `line ${lines[row]}`)
}

/** The object of a line, or what is wrong with it. */
function parsed(line: string): Readonly<Record<string, Cell>> | string {
  try {
    const value = parseJson(line)
    return isObject(value) ? value : 'expected one JSON object, found another value'
  } catch {
    const [found] = NOT_FINITE.exec(line) ?? []
    return `expected one JSON object, found ${found === undefined ? 'text that is no JSON' : `${found}, which JSON does not have`}`
  }
}

export const jsonl: Reader = { extensions: ['jsonl', 'ndjson'], readText: readJsonLines }
