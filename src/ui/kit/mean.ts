// Computes means of what steps measured, and tells a change from what chance and steps bring.

/** NaN of none. The sum of huge values would be none. */
export const mean = (values: readonly number[]): number => {
  const sum = values.reduce((sum, value) => sum + value, 0)
  if (Number.isFinite(sum)) return sum / values.length
  return values.reduce((part, value) => part + value / values.length, 0)
}

interface Column {
  readonly steps: ArrayLike<number>
  readonly values: ArrayLike<number>
  readonly length: number
}

interface Point {
  readonly step: number
  readonly value: number
}

/** What the steps first…last measured, where that is a number. */
export function pointsBetween(
  column: Column | undefined,
  first: number,
  last: number,
): readonly Point[] {
  const points: Point[] = []
  for (let i = 0; column && i < column.length; i++) {
    const [step, value] = [column.steps[i], column.values[i]]
    if (step >= first && step <= last && Number.isFinite(value)) points.push({ step, value })
  }
  return points
}

/** Their values. */
export const between = (
  column: Column | undefined,
  first: number,
  last: number,
): readonly number[] => pointsBetween(column, first, last).map(({ value }) => value)

/** Steps whose scores are averaged at both ends of a course: one step has few answers. */
export const END_STEPS = 5

/** Means of the first and of the last steps; undefined where these would overlap. */
export const endMeans = (values: readonly number[]): readonly [number, number] | undefined =>
  values.length < 2 * END_STEPS
    ? undefined
    : [mean(values.slice(0, END_STEPS)), mean(values.slice(-END_STEPS))]

/** Standard errors of a difference of two shares that chance rarely exceeds. */
const CLEAR = 2

/** The standard error of the difference of two shares of so many answers each; less where the
 * problems are the same. */
export const differenceError = ([a, b]: readonly number[], answers: number): number =>
  Math.sqrt((a * (1 - a) + b * (1 - b)) / answers)

/** Whether two shares of so many answers are further apart than chance brings them. */
export const isClear = ([before, after]: readonly number[], answers: number): boolean =>
  Math.abs(after - before) > CLEAR * differenceError([before, after], answers)

/** Standard errors by which the best of many means is above two others that chance explains. */
const CLEAR_PEAK = 2 * CLEAR

/** The best mean of so many values in a row, of so many answers each, where both ends lie clearly
 * below it; undefined where it is at an end, or chance explains it. */
export function peakOf(
  values: readonly number[],
  { of, answers }: { readonly of: number; readonly answers: number },
): number | undefined {
  if (values.length < 2 * of) return undefined
  const means = values.slice(of - 1).map((_, i) => mean(values.slice(i, i + of)))
  const peak = Math.max(...means)
  const isAbove = (end = 0) => peak - end > CLEAR_PEAK * differenceError([end, peak], of * answers)
  return isAbove(means[0]) && isAbove(means.at(-1)) ? peak : undefined
}

/** Nats below which a change of an entropy is not worth a word: steps differ by as much. */
const HARDLY_NATS = 0.05

/** Whether an entropy has changed: every sentence about one asks here. */
export const isClearEntropy = (change: number): boolean => Math.abs(change) >= HARDLY_NATS
