// Computes means over runs of several seeds, with what can be said about them.
import { mean, variance } from '../../rl/math/stats.ts'

/** 0.975 quantiles of Student's t for 1, 2, … degrees of freedom. */
const T_975 = [
  12.7062, 4.30265, 3.18245, 2.77645, 2.57058, 2.44691, 2.36462, 2.306, 2.26216, 2.22814, 2.20099,
  2.17881, 2.16037, 2.14479, 2.13145, 2.11991, 2.10982, 2.10092, 2.09302, 2.08596, 2.07961, 2.07387,
  2.06866, 2.0639, 2.05954, 2.05553, 2.05183, 2.04841, 2.04523, 2.04227,
]

/** 0.975 quantile of Student's t; that of 30 degrees of freedom, which is larger, for more. */
export const t975 = (degrees: number): number => T_975[Math.min(degrees, T_975.length) - 1]

/** With fewer values Student's t says little of them and is wider than many measures are: of two
 * accuracies 9 points apart it reaches from below 0 to above 1. */
export const FEWEST_FOR_T = 5

/** A mean and how far its values lie apart. */
export interface MeanSpread {
  readonly n: number
  readonly mean: number
  /** The lowest and the highest value. */
  readonly lowest: number
  readonly highest: number
  /** Half the width of the 95 % interval of the mean, Student's t with n − 1 degrees of freedom;
   * undefined for fewer than FEWEST_FOR_T values. */
  readonly halfWidth: number | undefined
}

const halfWidthOf = (values: readonly number[]): number =>
  t975(values.length - 1) * Math.sqrt(variance(values, { unbiased: true }) / values.length)

/** Of independent values; undefined for fewer than two. */
export function meanSpread(values: readonly number[]): MeanSpread | undefined {
  const n = values.length
  if (n < 2) return undefined
  return {
    n,
    mean: mean(values),
    lowest: Math.min(...values),
    highest: Math.max(...values),
    halfWidth: n < FEWEST_FOR_T ? undefined : halfWidthOf(values),
  }
}

/** The 95 % interval of mean(b) − mean(a) of independent values, at least two of each: Student's t
 * with the degrees of freedom of the fewer ones, which is wider than Welch's. */
export function differenceInterval(
  a: readonly number[],
  b: readonly number[],
): { readonly low: number; readonly high: number } {
  const [errorA, errorB] = [a, b].map((own) => variance(own, { unbiased: true }) / own.length)
  const half = t975(Math.min(a.length, b.length) - 1) * Math.sqrt(errorA + errorB)
  const centre = mean(b) - mean(a)
  return { low: centre - half, high: centre + half }
}

/** Steps ascend; the first `length` entries are valid. */
export interface RunColumns {
  readonly steps: ArrayLike<number>
  readonly values: ArrayLike<number>
  readonly length: number
}

const BAND_KINDS = ['t95', 'range'] as const
/** t95: the 95 % interval of the mean; of fewer than FEWEST_FOR_T runs it is the range. range: the
 * lowest and the highest run. */
export type BandKind = (typeof BAND_KINDS)[number]

interface Column {
  readonly steps: readonly number[]
  readonly values: readonly number[]
  readonly length: number
}

export interface MeanBand {
  readonly mean: Column
  readonly low: Column
  readonly high: Column
}

const column = (steps: readonly number[], values: readonly number[]): Column => ({
  steps,
  values,
  length: steps.length,
})

/** Mean of a metric over runs, and its band, at the steps at which every run measured it: each
 * point is about the same runs, so the mean does not jump where a shorter one ends. A value that is
 * not finite leaves a gap. A t interval knows nothing of bounds, so the band is cut at those of the
 * metric. Undefined for fewer than two runs. */
export function meanBand(
  runs: readonly RunColumns[],
  kind: BandKind,
  [least, most]: readonly [number, number] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
): MeanBand | undefined {
  if (runs.length < 2) return undefined
  const others = runs
    .slice(1)
    .map(
      ({ steps, values, length }) =>
        new Map(Array.from({ length }, (_, i) => [steps[i], values[i]])),
    )
  const [steps, means, lows, highs]: number[][] = [[], [], [], []]
  const [first] = runs
  const isT = kind === 't95' && runs.length >= FEWEST_FOR_T
  for (let i = 0; i < first.length; i++) {
    const step = first.steps[i]
    if (!others.every((other) => other.has(step))) continue
    const all = [first.values[i], ...others.map((other) => other.get(step) ?? Number.NaN)]
    const isGap = !all.every(Number.isFinite)
    const middle = isGap ? Number.NaN : mean(all)
    const halfWidth = isT && !isGap ? halfWidthOf(all) : Number.NaN
    steps.push(step)
    means.push(middle)
    lows.push(Math.max(least, isT || isGap ? middle - halfWidth : Math.min(...all)))
    highs.push(Math.min(most, isT || isGap ? middle + halfWidth : Math.max(...all)))
  }
  return { mean: column(steps, means), low: column(steps, lows), high: column(steps, highs) }
}
