// JSON lines: an object on every line. Empty lines are left out.
import { DataFileError } from '../data_file.ts'
import { type Cell, refuseRows, type Table, tableOfObjects } from '../table.ts'
import type { Reader } from './reader.ts'

const isObject = (value: unknown): value is Readonly<Record<string, Cell>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Python writes these where a number is none, and they are no JSON. */
const NOT_FINITE = /(?<![\w"])(-?Infinity|NaN)(?![\w"])/

/** Throws DataFileError naming the line. */
export function readJsonLines(text: string, file: string): Table {
  const lines: number[] = []
  const objects: Readonly<Record<string, Cell>>[] = []
  text.split('\n').forEach((line, i) => {
    if (line.trim() === '') return
    refuseRows(file, objects.length + 1)
    const value = parsed(line, `${file}: line ${i + 1}`)
    if (!isObject(value))
      throw new DataFileError(
        `${file}: line ${i + 1}: expected one JSON object, found another value`,
      )
    objects.push(value)
    lines.push(i + 1)
  })
  return tableOfObjects(file, objects, (row) => `line ${lines[row]}`)
}

function parsed(line: string, where: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    const [found] = NOT_FINITE.exec(line) ?? []
    throw new DataFileError(
      `${where}: expected one JSON object, found ${found === undefined ? 'text that is no JSON' : `${found}, which JSON does not have`}`,
    )
  }
}

export const jsonl: Reader = { extensions: ['jsonl', 'ndjson'], readText: readJsonLines }
