// Filters the runs of the table by conditions on its columns, all of which must hold.
import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import { t } from '../../kit/translator.ts'
import {
  type Cell,
  cellOf,
  cellText,
  columnLabel,
  isMetric,
  isShare,
  type Reading,
} from './columns.ts'

/** Each with its words: an operator is kept with the view. */
export const OPERATORS = [
  { operator: 'is', label: 'is' },
  { operator: 'is not', label: 'is not' },
  { operator: 'at least', label: 'at least' },
  { operator: 'at most', label: 'at most' },
  { operator: 'contains', label: 'contains' },
] as const
export type Operator = (typeof OPERATORS)[number]['operator']

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

/** What is typed as a number: '40 %' and, of a share, '40' as 0.4; NaN for what is no number. */
function numberOf(typed: string, inShares: boolean): number {
  const text = typed.trim().replace('−', '-')
  if (text === '') return Number.NaN
  if (text.endsWith('%')) return Number(text.slice(0, -1).trim() || Number.NaN) / 100
  const number = Number(text)
  // No share is above 1: that is how many per cent.
  return inShares && number > 1 ? number / 100 : number
}

/** Whether one of them is what was typed: a number of the same value or text, or the same word. */
function isAlike(cell: Cell, shown: string, value: string, inShares: boolean): boolean {
  if (typeof cell === 'number' && cell === numberOf(value, inShares)) return true
  // Tags are a list.
  const words = [...plain(cell).split(', '), plain(cell), plain(shown.replace('\u00a0', ' '))]
  return words.includes(plain(value))
}

/** Whether a run fulfils a condition. A number that it does not have is neither above nor below
 * another. */
export function holds(entry: RunEntry, filter: Filter, reading: Reading): boolean {
  const { column, operator, value } = filter
  const cell = cellOf(entry, column, reading)
  const inShares = isMetric(column) && isShare(column.slice(column.indexOf(':') + 1), [entry])
  if (operator === 'contains') return plain(cell).includes(plain(value))
  if (operator === 'is' || operator === 'is not') {
    const shown = typeof cell === 'number' ? cellText(cell, column, entry) : plain(cell)
    return isAlike(cell, shown, value, inShares) === (operator === 'is')
  }
  if (typeof cell !== 'number') return false
  const bound = numberOf(value, inShares)
  return operator === 'at least' ? cell >= bound : cell <= bound
}

/** What is wrong with a condition; undefined where it can be asked. */
export function filterProblem({ column, operator, value }: Filter): string | undefined {
  const isOrdered = operator === 'at least' || operator === 'at most'
  const isOfNumber = isMetric(column) && operator !== 'contains' && value.trim() !== ''
  if (!isOrdered && !isOfNumber) return undefined
  return Number.isNaN(numberOf(value, false))
    ? `Expected a number such as 0.9 or 90 %, got ${value.trim() === '' ? 'nothing' : `“${value.trim()}”`}.`
    : undefined
}

export const filterWords = ({ column, operator, value }: Filter): string =>
  [t(columnLabel(column)), t(operator), value === '' ? t('(empty)') : value].join(' ')
