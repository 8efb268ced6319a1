// Finds how far the lines of a chart reach, and the ticks that hold them.

import type { Columns } from './columns.ts'
import { type Domain, logTicks, niceTicks } from './domain.ts'
import { extentIn } from './extent.ts'

export interface Bounds {
  readonly low: number
  readonly high: number
  /** Lowest value above 0. */
  readonly low_positive: number
  /** Values at or below 0: gaps on a logarithmic axis. */
  readonly not_positive: number
}

/** Of all columns in these steps; Infinity and -Infinity where there is no value. */
export function boundsIn(all: readonly (Columns | undefined)[], x: Domain): Bounds {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  let [low_positive, not_positive] = [Number.POSITIVE_INFINITY, 0]
  for (const columns of all) {
    if (!columns) continue
    const extent = extentIn(columns, x)
    low = Math.min(low, extent.min)
    high = Math.max(high, extent.max)
    low_positive = Math.min(low_positive, extent.min_positive)
    not_positive += extent.not_positive
  }
  return { low, high, low_positive, not_positive }
}

const ZERO: readonly number[] = [0]

/** About `count` ticks that hold every value, and `must` on an even axis; `fixed` is an axis that
 * does not depend on them. */
export function ticksOf(
  { low, high, low_positive }: Bounds,
  fixed: Domain | undefined,
  isLog: boolean,
  count: number,
  must: readonly number[] = ZERO,
): number[] {
  if (isLog) return logTicks(low_positive, Math.max(high, fixed?.[1] ?? high), count)
  if (fixed) return niceTicks(fixed[0], fixed[1], count)
  return niceTicks(Math.min(low, ...must), Math.max(high, ...must), count)
}
