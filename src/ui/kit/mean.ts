// Computes means, and tells a change of shares from what chance brings.

/** NaN of none. */
export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

/** Standard errors of a difference of two shares that chance rarely exceeds. */
const CLEAR = 2

/** The standard error of the difference of two shares of so many answers each; less where the
 * problems are the same. */
export const differenceError = ([a, b]: readonly number[], answers: number): number =>
  Math.sqrt((a * (1 - a) + b * (1 - b)) / answers)

/** Whether two shares of so many answers are further apart than chance brings them. */
export const isClear = ([before, after]: readonly number[], answers: number): boolean =>
  Math.abs(after - before) > CLEAR * differenceError([before, after], answers)
