// Finds the unit in which a study writes the numbers of its measure: one for values, and one for
// differences.
import { boundsOf } from '../bounds.ts'
import { short } from './svg.ts'

export interface Units {
  /** Behind a value and behind a difference, with the space before it; '' for a plain number. */
  readonly value: '' | ' %'
  readonly difference: '' | ' points'
  /** A value, and the same without its unit: '63.2 %' and '63.2'. */
  readonly valueText: (value: number) => string
  readonly bareValue: (value: number) => string
  /** A round number along an axis, of values and of differences, without its unit. */
  readonly tick: (value: number) => string
  /** A difference or a deviation without its unit and with the sign it has: '−0.7'. */
  readonly bareDifference: (difference: number) => string
}

const plain = (value: number): string => short(value).replace(/^-/, '−')

/** One decimal; more where a number would be written as 0 and is not. */
function points(share: number): string {
  const value = 100 * share
  if (!Number.isFinite(value)) return '–'
  const isSmall = Math.abs(value) < 0.05 && value !== 0
  const text = isSmall ? short(Number(value.toPrecision(1))) : value.toFixed(1)
  return text.replace(/^-/, '−')
}

const SHARES: Units = {
  value: ' %',
  difference: ' points',
  valueText: (share) => (Number.isFinite(share) ? `${points(share)} %` : '–'),
  bareValue: points,
  bareDifference: points,
  tick: (share) => plain(100 * share),
}
const PLAIN: Units = {
  value: '',
  difference: '',
  valueText: plain,
  bareValue: plain,
  bareDifference: plain,
  tick: plain,
}

/** Shares of 1 are written in per cent, and their differences in points of a hundred; all else as
 * it was measured. */
export const unitsOf = (metric: string | undefined): Units =>
  boundsOf(metric ?? '').high === 1 ? SHARES : PLAIN

/** `, %`: the unit in the head of a column. */
export const inHead = (unit: string): string => (unit === '' ? '' : `,${unit}`)

const GIGA = '10⁹'

/** What a budget is counted in. */
export const budgetUnit = (same: string): string =>
  same === 'arithmetic' ? `${GIGA} operations` : same

/** What was spent of a budget, as pages and reports write it: '1,792'. */
export function spentText(spent: number): string {
  if (!Number.isFinite(spent)) return '–'
  return spent < 100 ? plain(spent) : Math.round(spent).toLocaleString('en')
}
