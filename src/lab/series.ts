/**
 * Append-only columns of (step, value): not every metric comes at every step. NaN values are kept, as gaps. Grows by
 * doubling; appending never copies. Only the first `length` entries of `steps` and `values` are valid.
 */
export class Series {
  steps = new Float64Array(256)
  values = new Float64Array(256)
  length = 0

  /** Columns that are there already. */
  static of(steps: Float64Array, values: Float64Array): Series {
    const series = new Series()
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
}

function doubled(column: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const grown = new Float64Array(column.length * 2)
  grown.set(column)
  return grown
}

/** Appends one step's metrics to their columns, in place. */
export function appendMetrics(
  series: Map<string, Series>,
  step: number,
  metrics: Readonly<Record<string, number>>,
): void {
  for (const [name, value] of Object.entries(metrics)) {
    let column = series.get(name)
    if (!column) {
      column = new Series()
      series.set(name, column)
    }
    column.push(step, value)
  }
}
