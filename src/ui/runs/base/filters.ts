// Filters the runs of the table by conditions on its columns, all of which must hold.
import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import { type Cell, cellOf, columnLabel, type Reading } from './columns.ts'

export const OPERATORS = ['is', 'is not', 'at least', 'at most', 'contains'] as const
export type Operator = (typeof OPERATORS)[number]

export interface Filter {
  readonly column: string
  readonly operator: Operator
  /** As it was typed. */
  readonly value: string
}

const plain = (cell: Cell): string =>
  (typeof cell === 'boolean' ? (cell ? 'on' : 'off') : cell === null ? 'none' : `${cell ?? ''}`)
    .trim()
    .toLowerCase()

/** '40 %' as 0.4; NaN for what is no number. */
function numberOf(typed: string): number {
  const text = typed.trim()
  if (text === '') return Number.NaN
  return text.endsWith('%') ? Number(text.slice(0, -1)) / 100 : Number(text)
}

/** Whether one of them is what was typed: a number of the same value, or the same word. */
function isAlike(cell: Cell, value: string): boolean {
  if (typeof cell === 'number') return cell === numberOf(value)
  // Tags are a list.
  return plain(cell).split(', ').concat(plain(cell)).includes(plain(value))
}

/** Whether a run fulfils a condition. A number that it does not have is neither above nor below
 * another. */
export function holds(entry: RunEntry, filter: Filter, reading: Reading): boolean {
  const { column, operator, value } = filter
  const cell = cellOf(entry, column, reading)
  if (operator === 'is') return isAlike(cell, value)
  if (operator === 'is not') return !isAlike(cell, value)
  if (operator === 'contains') return plain(cell).includes(plain(value))
  if (typeof cell !== 'number') return false
  return operator === 'at least' ? cell >= numberOf(value) : cell <= numberOf(value)
}

export const filterWords = ({ column, operator, value }: Filter): string =>
  `${columnLabel(column)} ${operator} ${value === '' ? '(empty)' : value}`
