// Reads the cells of a table by their keys, and what they are as text and as plain JSON.
import type { Json } from '../../task/json.ts'
import {
  type Cell,
  isObject,
  kindOfCell,
  shownCell,
  type Table,
  WrittenNumber,
} from '../table/table.ts'

export type Refuse = (what: string) => never

/** Whether a table has what a key names, by its first name. */
export const hasColumn = ({ columns }: Table, key: string): boolean =>
  columns.some((name) => key === name || key.startsWith(`${name}.`))

/** The values of a key in every row: a column of that name comes before what lies inside of one.
 * No key has no values. */
export function cellsOf({ columns, rows }: Table, key: string | null): (Cell | undefined)[] {
  if (key === null) return rows.map(() => undefined)
  const own = columns.indexOf(key)
  if (own >= 0) return rows.map((row) => row[own])
  const [name, ...path] = key.split('.')
  const outer = columns.indexOf(name)
  return rows.map((row) =>
    path.reduce<Cell | undefined>(
      (cell, inner) => (isObject(cell) && Object.hasOwn(cell, inner) ? cell[inner] : undefined),
      outer < 0 ? undefined : row[outer],
    ),
  )
}

/** A text, a finite number as its file writes it, or a truth value as text. */
export function textOf(cell: Cell | undefined, refuse: Refuse): string {
  if (typeof cell === 'string')
    return cell.isWellFormed()
      ? cell
      : refuse('expected text, found half of a character (a lone surrogate)')
  if (typeof cell === 'boolean') return `${cell}`
  if (cell instanceof WrittenNumber)
    return Number.isFinite(Number(cell.text))
      ? cell.text
      : refuse(`expected a text or a number, found ${Number(cell.text)}`)
  if (typeof cell === 'number')
    return Number.isFinite(cell)
      ? writtenAs(cell)
      : refuse(`expected a text or a number, found ${cell}`)
  return refuse(`expected a text, found ${kindOfCell(cell)} (${shownCell(cell)})`)
}

const writtenAs = (value: number) => (Object.is(value, -0) ? '-0' : `${value}`)

/** Objects and lists as JSON: numbers are numbers, but whole ones that JavaScript cannot hold are
 * texts of all their digits. */
export function plainJson(cell: Cell): Json {
  if (cell instanceof WrittenNumber) {
    const value = Number(cell.text)
    const isHeld =
      Number.isFinite(value) && (!/^-?\d+$/.test(cell.text) || Number.isSafeInteger(value))
    return isHeld ? value : cell.text
  }
  if (Array.isArray(cell)) return cell.map(plainJson)
  if (!isObject(cell)) return cell as Json
  return Object.fromEntries(Object.entries(cell).map(([name, own]) => [name, plainJson(own)]))
}
