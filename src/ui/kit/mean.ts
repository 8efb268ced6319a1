// Computes means, and tells a change of shares from what chance brings.

/** NaN of none. */
export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

/** Standard errors of a difference of two shares that chance rarely exceeds. */
const CLEAR = 2

/** Whether two shares of so many answers are further apart than chance brings them. Where the
 * problems are the same it is less likely still. */
export function isClear([before, after]: readonly number[], answers: number): boolean {
  const variance = (share: number) => (share * (1 - share)) / answers
  return Math.abs(after - before) > CLEAR * Math.sqrt(variance(before) + variance(after))
}
