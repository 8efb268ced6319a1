// Keeps the numbers of a metric as they arrive: append-only columns, and where a step lies in them.
import type { Thinned } from '../../host/columns/thinning.ts'

/** Columns of one metric; the first `length` entries are valid, `steps` ascend. */
export interface Columns {
  readonly steps: ArrayLike<number>
  readonly values: ArrayLike<number>
  readonly length: number
  /** Where not every row is kept. */
  readonly thinned?: Thinned | undefined
}

/** First index whose step is ≥ `step`; `length` when there is none. */
export function lowerBound(
  { steps, length }: Pick<Columns, 'steps' | 'length'>,
  step: number,
): number {
  let low = 0
  let high = length
  while (low < high) {
    const middle = (low + high) >> 1
    if (steps[middle] < step) low = middle + 1
    else high = middle
  }
  return low
}

/** Index of the newest entry at or before `step`, or -1. */
export function indexAt(columns: Columns, step: number): number {
  return lowerBound(columns, step + 1e-9) - 1
}

/** All steps, without a copy where that can be. */
export const stepsOf = ({ steps, length }: Columns): ArrayLike<number> =>
  steps instanceof Float64Array ? steps.subarray(0, length) : Array.from(steps).slice(0, length)
