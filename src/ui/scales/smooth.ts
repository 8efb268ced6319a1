// Smooths lines without a lag.
import type { Columns } from './columns.ts'
import { extentOf } from './extent.ts'

/** Largest weight: one that looks at about 39 measurements. With more, most runs were straight
 * lines. */
export const MAX_WEIGHT = 0.95

/** The mean of one step's few responses jumps too much to be read. */
export const SAMPLED_SMOOTHING = 0.8

/** Measurements from which on a line through them says more than they do. */
const ENOUGH = 10

/** Of fewer every one is read. */
export const isFew = (columns: Pick<Columns, 'length'> | undefined): boolean =>
  (columns?.length ?? 0) < ENOUGH

interface Smoothed extends Columns {
  readonly weight: number
}

const known = new WeakMap<Columns, Smoothed>()

/** For each of the points `at`, of those up to it: sums of 1, x, x², y and xy, where x and y are
 * the steps and values seen from it, and the k-th before it counts wᵏ. */
function sumsAlong({ steps, values }: Columns, at: readonly number[], w: number) {
  let [one, x, xx, y, xy] = [0, 0, 0, 0, 0]
  let [last] = at
  return at.map((i) => {
    const dx = steps[i] - steps[last]
    const dy = values[i] - values[last]
    last = i
    y = w * (y - dy * one)
    xy = w * (xy - dy * x) - dx * y
    x = w * (x - dx * one)
    xx = w * (xx - dx * dx * one) - 2 * dx * x
    one = w * one + 1
    return [one, x, xx, y, xy]
  })
}

function fitted(columns: Columns, w: number): Float64Array {
  const { values, length } = columns
  const [least, most] = extentOf(columns)
  // Shares stay shares, and what is never negative stays so.
  const low = least < 0 ? -Infinity : 0
  const high = low === 0 && most <= 1 ? 1 : Infinity
  const result = new Float64Array(length).fill(Number.NaN)
  const at = [...result.keys()].filter((i) => Number.isFinite(values[i]))
  const right = sumsAlong(columns, at.toReversed(), w).reverse()
  sumsAlong(columns, at, w).forEach((left, k) => {
    const [both, x, xx, y, xy] = left.map((sum, n) => sum + right[k][n])
    // The point itself is in both. Alone it has no slope: 0 / 0.
    const above = (xx * y - x * xy) / ((both - 1) * xx - x * x) || 0
    result[at[k]] = Math.min(high, Math.max(low, values[at[k]] + above))
  })
  return result
}

/** A local linear fit (Cleveland 1979, doi 10.2307/2286407) with weights wᵏ for the k-th finite
 * value to either side: each point lies on the straight line that fits its surroundings best, so
 * that a straight line stays what it is up to both ends, where it may leave the range of the
 * measured values, but not [0, 1] or [0, ∞) where all of them lie in there. NaN stays NaN. Weight
 * 0 gives the columns themselves; others are brought into [0, MAX_WEIGHT]. What more is measured
 * moves what lies before it too: the same object is returned only while nothing is. */
export function smoothed(columns: Columns, weight: number): Columns {
  const w = Math.min(MAX_WEIGHT, weight)
  if (!(w > 0)) return columns
  const before = known.get(columns)
  const { steps, length } = columns
  if (before && before.weight === w && before.length === length) return before
  const result = { steps, values: fitted(columns, w), length, weight: w }
  known.set(columns, result)
  return result
}
