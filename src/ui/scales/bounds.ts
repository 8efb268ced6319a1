// Finds how far the lines of a chart reach, and the ticks that hold them.

import type { Columns } from './columns.ts'
import { type Domain, logTicks, niceTicks } from './domain.ts'
import { extentIn } from './extent.ts'

export interface Bounds {
  readonly low: number
  readonly high: number
  /** Lowest value above 0. */
  readonly lowPositive: number
  /** Values at or below 0: gaps on a logarithmic axis. */
  readonly notPositive: number
}

/** Of all columns in these steps; Infinity and -Infinity where there is no value. */
export function boundsIn(all: readonly (Columns | undefined)[], x: Domain): Bounds {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  let [lowPositive, notPositive] = [Number.POSITIVE_INFINITY, 0]
  for (const columns of all) {
    if (!columns) continue
    const extent = extentIn(columns, x)
    low = Math.min(low, extent.min)
    high = Math.max(high, extent.max)
    lowPositive = Math.min(lowPositive, extent.minPositive)
    notPositive += extent.notPositive
  }
  return { low, high, lowPositive, notPositive }
}

const ZERO: readonly number[] = [0]

/** A sum of weights can exceed what they sum to by this. */
const ROUNDING = 1e-9

/** Whether every known value lies on an axis. */
export const isWithin = (
  { low, high }: Pick<Bounds, 'low' | 'high'>,
  [first, last]: Domain,
): boolean => !(low < first - ROUNDING || high > last + ROUNDING)

/** About `count` ticks that hold every value, and `must` on an even axis; `fixed` is an axis that
 * does not depend on them, as long as they lie within it. */
export function ticksOf(
  bounds: Bounds,
  fixed: Domain | undefined,
  isLog: boolean,
  count: number,
  must: readonly number[] = ZERO,
): number[] {
  const { low, high, lowPositive } = bounds
  if (isLog) return logTicks(lowPositive, Math.max(high, fixed?.[1] ?? high), count)
  if (fixed && isWithin(bounds, fixed)) return niceTicks(fixed[0], fixed[1], count)
  return niceTicks(Math.min(low, ...must), Math.max(high, ...must), count)
}
