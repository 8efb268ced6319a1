// Declares the table that every data file becomes: named columns and rows of plain values, whatever
// its format.
import { DataFileError, MOST_COLUMNS, MOST_ROWS } from './data_file.ts'

/** A number as its file writes it, where JavaScript would write it otherwise or cannot hold it:
 * 9007199254740993, 142.0, 1e21. */
export class WrittenNumber {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  /** Its digits, where a cell is shown. */
  toJSON(): string {
    return this.text
  }
}

/** A value of a cell: what JSON can hold, or a number that is not finite. Parquet's other types
 * become text or numbers (parquet.ts). */
export type Cell =
  | string
  | number
  | WrittenNumber
  | boolean
  | null
  | readonly Cell[]
  | { readonly [name: string]: Cell }

export interface Table {
  /** Each name once, in the order of the file. */
  readonly columns: readonly string[]
  /** A value for each column; undefined where a row does not have it. */
  readonly rows: readonly (readonly (Cell | undefined)[])[]
  /** What was decided while reading and a person should know, in sentences. */
  readonly notes: readonly string[]
  /** What a row is called in messages, e.g. line 3: its number in the file, from 1. */
  readonly placeOf: (row: number) => string
}

/** Refuses more rows than are held in memory. Throws DataFileError. */
export function refuseRows(file: string, rows: number): void {
  if (rows > MOST_ROWS)
    throw new DataFileError(`${file}: expected at most ${MOST_ROWS} rows; take a part of it`)
}

/** Refuses more columns than anybody can choose from. Throws DataFileError. */
export function refuseColumns(file: string, columns: number): void {
  if (columns > MOST_COLUMNS)
    throw new DataFileError(`${file}: expected at most ${MOST_COLUMNS} columns, found ${columns}`)
}

/** Rows of objects as a table; a column for each name that any of them has. Names are compared as
 * texts, so `__proto__` and `constructor` are columns like others. Throws DataFileError where there
 * are too many. */
export function tableOfObjects(
  file: string,
  objects: readonly Readonly<Record<string, Cell>>[],
  placeOf: Table['placeOf'],
): Table {
  refuseRows(file, objects.length)
  const at = new Map<string, number>()
  const rows = objects.map((object) => {
    const row: (Cell | undefined)[] = []
    for (const name of Object.keys(object)) {
      const column = at.get(name) ?? at.size
      if (column === at.size) {
        at.set(name, column)
        refuseColumns(file, at.size)
      }
      while (row.length < column) row.push(undefined)
      row[column] = object[name]
    }
    return row
  })
  const columns = [...at.keys()]
  for (const row of rows) while (row.length < columns.length) row.push(undefined)
  return { columns, rows, notes: [], placeOf }
}

/** Whether a value holds others by their names. */
export const isObject = (cell: unknown): cell is { readonly [name: string]: Cell } =>
  typeof cell === 'object' &&
  cell !== null &&
  !Array.isArray(cell) &&
  !(cell instanceof WrittenNumber)

/** A value in a message: short, on one line. */
export function shownCell(value: Cell | undefined): string {
  if (value === undefined) return 'nothing'
  if (typeof value === 'number') return `${value}`
  if (value instanceof WrittenNumber) return value.text
  const text = JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

/** What kind of value it is, in a word. */
export function kindOfCell(value: Cell | undefined): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (value instanceof WrittenNumber) return 'a number'
  const kinds = { string: 'a text', number: 'a number', boolean: 'true or false' } as const
  return kinds[typeof value as keyof typeof kinds] ?? 'an object'
}
