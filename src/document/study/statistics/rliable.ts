// Computes robust summaries of few runs, as in rliable (Agarwal et al. 2021, arXiv 2108.13264).
import { mean } from '../../../rl/math/stats.ts'

/** The mean of the middle half: a quarter of the values is cut off at each end, rounded down
 * (scipy.stats.trim_mean(x, 0.25)). */
export function interquartileMean(values: readonly number[]): number {
  const cut = Math.floor(values.length * 0.25)
  const sorted = [...values].sort((a, b) => a - b)
  return mean(sorted.slice(cut, sorted.length - cut))
}

/** The middle of the values in order; of two middles their mean. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2
}

/** The performance profile: the share of runs that score above each threshold. */
export const performanceProfile = (
  values: readonly number[],
  thresholds: readonly number[],
): number[] =>
  thresholds.map((least) => values.filter((value) => value > least).length / values.length)

/** The probability that a run of `a` beats one of `b`, ties counted half (Mann–Whitney's U /
 * nm). */
export function probabilityOfImprovement(a: readonly number[], b: readonly number[]): number {
  let wins = 0
  for (const x of a) for (const y of b) wins += x > y ? 1 : x === y ? 0.5 : 0
  return wins / (a.length * b.length)
}

/** A measured curve: values at ascending places, such as steps or responses. */
export interface Curve {
  readonly at: readonly number[]
  readonly values: readonly number[]
}

/** The area under a curve up to `until`, divided by the stretch that it covers: its mean height, by
 * trapezoids. */
export function areaUnder({ at, values }: Curve, until = Number.POSITIVE_INFINITY): number {
  let [area, length] = [0, 0]
  for (let i = 1; i < at.length && at[i] <= until; i++) {
    const width = at[i] - at[i - 1]
    area += (width * (values[i] + values[i - 1])) / 2
    length += width
  }
  return length > 0 ? area / length : (values[0] ?? Number.NaN)
}
