// Keeps the columns of a metric, which only grow.
import { MAX_ROWS, type Thinned, thin } from './thinning.ts'

/** Append-only columns of (step, value): not every metric comes at every step. NaN values are kept,
 * as gaps. Grows by doubling; appending never copies. Only the first `length` entries of `steps`
 * and `values` are valid. Rows never change and never go: where they are to be fewer, another
 * Series takes its place, so that who remembers one and a length knows all of it. */
export class Series {
  steps = new Float64Array(256)
  values = new Float64Array(256)
  length = 0
  /** Rows that were there once and are no longer; undefined where all are. */
  readonly thinned: Thinned | undefined

  constructor(thinned?: Thinned) {
    this.thinned = thinned
  }

  /** Columns that are there already. */
  static of(steps: Float64Array, values: Float64Array, thinned?: Thinned): Series {
    const series = new Series(thinned)
    // Room for more, so that the next value does not copy them all.
    const size = Math.max(256, 2 ** Math.ceil(Math.log2(steps.length + 1)))
    series.steps = new Float64Array(size)
    series.values = new Float64Array(size)
    series.steps.set(steps)
    series.values.set(values)
    series.length = steps.length
    return series
  }

  push(step: number, value: number): void {
    if (this.length === this.steps.length) {
      this.steps = doubled(this.steps)
      this.values = doubled(this.values)
    }
    this.steps[this.length] = step
    this.values[this.length++] = value
  }

  /** Index of the first row after `step`; `length` where there is none. */
  after(step: number): number {
    let [low, high] = [0, this.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.steps[middle] > step) high = middle
      else low = middle + 1
    }
    return low
  }
}

function doubled(column: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const grown = new Float64Array(column.length * 2)
  grown.set(column)
  return grown
}

/** Appends one value to the column of its metric. A full column is replaced by one with half of its
 * rows. */
export function appendRow(
  series: Map<string, Series>,
  metric: string,
  step: number,
  value: number,
): void {
  let column = series.get(metric)
  if (!column || column.length >= MAX_ROWS) {
    column = column ? thinner(column) : new Series()
    series.set(metric, column)
  }
  column.push(step, value)
}

function thinner(column: Series): Series {
  const { steps, values, thinned } = thin(column, column.thinned)
  return Series.of(steps, values, thinned)
}

/** Appends one step's metrics to their columns, in place. */
export function appendMetrics(
  series: Map<string, Series>,
  step: number,
  metrics: Readonly<Record<string, number>>,
): void {
  for (const [name, value] of Object.entries(metrics)) appendRow(series, name, step, value)
}
