// Smooths lines as the measured ones grow.
import { nextAverage } from '../../host/columns/smoothing.ts'
import type { Columns } from './columns.ts'

/** Largest weight; at 1 nothing would move. */
export const MAX_WEIGHT = 0.999

/** The mean of one step's few responses jumps too much to be read. */
export const SAMPLED_SMOOTHING = 0.8

/** Measurements from which on an average of them says more than the newest does. */
const ENOUGH = 10

/** Of fewer an average lags behind what they say. */
export const isFew = (columns: Pick<Columns, 'length'> | undefined): boolean =>
  (columns?.length ?? 0) < ENOUGH

interface Smoothed {
  steps: ArrayLike<number>
  values: Float64Array
  length: number
  weight: number
  /** Average of the finite values so far, and weight^(their number). */
  mean: number
  decay: number
}

const known = new WeakMap<Columns, Smoothed>()

function begin(columns: Columns, weight: number): Smoothed {
  const values = new Float64Array(Math.max(64, columns.length))
  return { steps: columns.steps, values, length: 0, weight, mean: 0, decay: 1 }
}

/** Exponential moving average of the finite values, as `nextAverage` says. NaN stays NaN. Weight 0
 * gives the columns themselves; others are brought into [0, MAX_WEIGHT]. Each entry is computed
 * once while columns grow, and the same object is returned. */
export function smoothed(columns: Columns, weight: number): Columns {
  const w = Math.min(MAX_WEIGHT, weight)
  if (!(w > 0)) return columns
  let result = known.get(columns)
  if (!result || result.weight !== w || result.length > columns.length) {
    result = begin(columns, w)
    known.set(columns, result)
  }
  if (result.values.length < columns.length) {
    const grown = new Float64Array(2 * columns.length)
    grown.set(result.values)
    result.values = grown
  }
  result.steps = columns.steps
  for (; result.length < columns.length; result.length++) {
    const value = columns.values[result.length]
    if (Number.isFinite(value)) {
      result.decay *= w
      result.mean = nextAverage(result.mean, value, w, result.decay)
    }
    result.values[result.length] = Number.isFinite(value) ? result.mean : Number.NaN
  }
  return result
}
