// Fits a straight line through measured points: whether something grows, and how sure that is.

export interface Slope {
  readonly points: number
  /** Units of y per unit of x; NaN for fewer than two different x. */
  readonly slope: number
  /** Standard error of the slope; NaN for fewer than three points. */
  readonly error: number
}

/** Ordinary least squares, y = a + slope · x; the error from the residuals with n − 2 degrees of
 * freedom. */
export function fitSlope(points: readonly (readonly [x: number, y: number])[]): Slope {
  const n = points.length
  const mean = (of: (point: readonly [number, number]) => number) =>
    points.reduce((sum, point) => sum + of(point), 0) / n
  const [xMean, yMean] = [mean(([x]) => x), mean(([, y]) => y)]
  let [xx, xy] = [0, 0]
  for (const [x, y] of points) {
    xx += (x - xMean) ** 2
    xy += (x - xMean) * (y - yMean)
  }
  const slope = xx > 0 ? xy / xx : Number.NaN
  const residual = points.reduce((sum, [x, y]) => sum + (y - yMean - slope * (x - xMean)) ** 2, 0)
  const error = n > 2 ? Math.sqrt(residual / (n - 2) / xx) : Number.NaN
  return { points: n, slope, error }
}
