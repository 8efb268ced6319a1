// A difference between two answers to the same problems, and how sure the problems make it.
export interface Estimate {
  readonly mean: number
  /** 95 %, both ways. */
  readonly interval: number
}

/** Mean of `after` minus `before`, paired by problem. */
export function pairedDifference(before: readonly number[], after: readonly number[]): Estimate {
  const differences = after.map((value, i) => value - before[i])
  const n = differences.length
  const mean = differences.reduce((a, b) => a + b, 0) / n
  const variance = differences.reduce((sum, d) => sum + (d - mean) ** 2, 0) / Math.max(1, n - 1)
  return { mean, interval: 1.96 * Math.sqrt(variance / n) }
}
