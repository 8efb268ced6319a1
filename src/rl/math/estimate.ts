// Computes a mean over problems, and how sure the problems make it.
export interface Estimate {
  readonly mean: number
  /** 95 %, both ways. */
  readonly interval: number
}

/** The mean of one number for each problem. */
export function estimateOf(values: readonly number[]): Estimate {
  const n = values.length
  const mean = values.reduce((a, b) => a + b, 0) / n
  const variance = values.reduce((sum, d) => sum + (d - mean) ** 2, 0) / Math.max(1, n - 1)
  return { mean, interval: 1.96 * Math.sqrt(variance / n) }
}

/** Mean of `after` minus `before`, paired by problem. */
export const pairedDifference = (before: readonly number[], after: readonly number[]): Estimate =>
  estimateOf(after.map((value, i) => value - before[i]))
