// Computes means, and tells a change from what chance and steps bring.

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

/** Nats below which a change of an entropy is not worth a word: steps differ by as much. */
const HARDLY_NATS = 0.05

/** Whether an entropy has changed: every sentence about one asks here. */
export const isClearEntropy = (change: number): boolean => Math.abs(change) >= HARDLY_NATS
