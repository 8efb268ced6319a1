// Summarises one metric of a run for a table, value by value: the last, lowest and highest, as they
// are and smoothed.

/** All zero-cost to extend; no number of it needs the history again. */
export interface MetricSummary {
  /** Finite values so far. */
  readonly count: number
  /** The newest value, which need not be finite. */
  readonly last: number
  /** Of finite values; NaN before the first. */
  readonly lowest: number
  readonly highest: number
  /** Of the smoothed values. */
  readonly smooth_last: number
  readonly smooth_lowest: number
  readonly smooth_highest: number
  /** smooth_last · (1 − w^n), as kept runs hold it. */
  readonly average: number
}

/** What a smoothed value keeps of the ones before it. */
export const SMOOTHING = 0.9

const EMPTY: MetricSummary = {
  count: 0,
  last: Number.NaN,
  lowest: Number.NaN,
  highest: Number.NaN,
  smooth_last: Number.NaN,
  smooth_lowest: Number.NaN,
  smooth_highest: Number.NaN,
  average: 0,
}

const least = (a: number, b: number) => (Number.isNaN(a) ? b : Math.min(a, b))
const most = (a: number, b: number) => (Number.isNaN(a) ? b : Math.max(a, b))

/** The moving average after one more value: exponential weights wᵏ without the bias of an empty
 * start. The mean moves by (value − mean)·(1 − w) / (1 − wⁿ) with the n-th value, which equals
 * Adam's bias correction (arXiv 1412.6980, section 3) but keeps a constant series at its value to
 * the bit. `decay` is wⁿ, this value counted; the mean before the first one does not matter. */
const nextAverage = (mean: number, value: number, decay: number): number =>
  decay === SMOOTHING ? value : mean + ((value - mean) * (1 - SMOOTHING)) / (1 - decay)

/** The summary after more values. Smoothed is their moving average (`nextAverage`); values that are
 * not finite are passed over. */
export function extendSummary(
  before: MetricSummary | undefined,
  values: ArrayLike<number>,
  from = 0,
  to = values.length,
): MetricSummary {
  const now = { ...(before ?? EMPTY) }
  for (let i = from; i < to; i++) {
    const value = values[i]
    now.last = value
    if (!Number.isFinite(value)) continue
    now.count++
    now.lowest = least(now.lowest, value)
    now.highest = most(now.highest, value)
    const decay = SMOOTHING ** now.count
    now.smooth_last = nextAverage(now.smooth_last, value, decay)
    now.average = now.smooth_last * (1 - decay)
    now.smooth_lowest = least(now.smooth_lowest, now.smooth_last)
    now.smooth_highest = most(now.smooth_highest, now.smooth_last)
  }
  return now
}

export const STATISTICS = ['last', 'highest', 'lowest'] as const
export type Statistic = (typeof STATISTICS)[number]

/** Of a metric of which only the last value and how often it was measured are known. */
export const lastOnly = (last: number, count: number): MetricSummary => ({ ...EMPTY, last, count })

/** One number of a summary; undefined where no finite value was measured, or where it is not
 * known. */
export function statisticOf(
  summary: MetricSummary | undefined,
  statistic: Statistic,
  isSmoothed: boolean,
): number | undefined {
  const value = summary?.[isSmoothed ? (`smooth_${statistic}` as const) : statistic]
  // The newest value alone need not be finite.
  const isMeasured = statistic === 'last' && !isSmoothed && summary?.count !== 0
  return value === undefined || (Number.isNaN(value) && !isMeasured) ? undefined : value
}
