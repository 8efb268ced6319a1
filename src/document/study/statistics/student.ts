// Computes Student's t: its distribution, its quantiles, and intervals of means. Float64; tested
// against SciPy's numbers.
import { mean, variance } from '../../../rl/math/stats.ts'

/** Coefficients of Lanczos' approximation, g = 7 (Godfrey). */
const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
  -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6,
  1.5056327351493116e-7,
]

/** ln Γ(x) for x > 0. */
export function lnGamma(x: number): number {
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - lnGamma(1 - x)
  const z = x - 1
  const t = z + 7.5
  const sum = LANCZOS.reduce((total, c, i) => total + (i === 0 ? c : c / (z + i)), 0)
  return 0.5 * Math.log(2 * Math.PI) + (z + 0.5) * Math.log(t) - t + Math.log(sum)
}

/** The regularised incomplete beta function I_x(a, b), by its continued fraction (Lentz). */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0
  if (x >= 1) return 1
  // The fraction converges quickly below this point; above it the mirrored one does.
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a)
  const front =
    Math.exp(lnGamma(a + b) - lnGamma(a) - lnGamma(b) + a * Math.log(x) + b * Math.log1p(-x)) / a
  const TINY = 1e-300
  let [c, d] = [1, 1 / Math.max(1 - ((a + b) * x) / (a + 1), TINY)]
  let value = d
  for (let m = 1; m <= 300; m++) {
    const steps = [
      (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m)),
      (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1)),
    ]
    let change = 1
    for (const step of steps) {
      d = 1 / (1 + step * d || TINY)
      c = 1 + step / c || TINY
      change = c * d
      value *= change
    }
    if (Math.abs(change - 1) < 1e-15) break
  }
  return front * value
}

/** P(T ≤ t) with `degrees` of freedom. */
export function studentCdf(t: number, degrees: number): number {
  const tail = 0.5 * incompleteBeta(degrees / (degrees + t * t), degrees / 2, 0.5)
  return t > 0 ? 1 - tail : tail
}

/** The t with P(T ≤ t) = p, 0 < p < 1, by bisection. */
export function studentQuantile(p: number, degrees: number): number {
  if (p === 0.5) return 0
  if (p < 0.5) return -studentQuantile(1 - p, degrees)
  let [low, high] = [0, 1]
  while (studentCdf(high, degrees) < p) high *= 2
  for (let i = 0; i < 200 && high - low > 1e-13 * high; i++) {
    const middle = (low + high) / 2
    if (studentCdf(middle, degrees) < p) low = middle
    else high = middle
  }
  return (low + high) / 2
}

/** An interval of a number that was estimated. */
export interface Interval {
  readonly low: number
  readonly high: number
}

/** The part of an interval that a bounded number can have: a t interval knows nothing of bounds. */
export const clamped = (
  interval: Interval | undefined,
  { low, high }: Interval,
): Interval | undefined =>
  interval && {
    low: Math.min(high, Math.max(low, interval.low)),
    high: Math.min(high, Math.max(low, interval.high)),
  }

/** Fewer pairs say nothing about their spread that one would want to rely on: Student’s t of two
 * accuracies often reaches from 0 to 1. */
export const FEWEST_PAIRS = 3

/** The t interval of the mean of independent values; undefined for fewer than two. */
export function tInterval(values: readonly number[], level = 0.95): Interval | undefined {
  const n = values.length
  if (n < 2) return undefined
  const error = Math.sqrt(variance(values, { unbiased: true }) / n)
  const half = studentQuantile(0.5 + level / 2, n - 1) * error
  const centre = mean(values)
  return { low: centre - half, high: centre + half }
}

/** Two-sided p of the one-sample t test that the mean is 0; 1 where all values are 0, undefined for
 * fewer than two. */
export function tTest(values: readonly number[]): number | undefined {
  const n = values.length
  if (n < 2) return undefined
  const error = Math.sqrt(variance(values, { unbiased: true }) / n)
  const centre = mean(values)
  if (error === 0) return centre === 0 ? 1 : 0
  return 2 * studentCdf(-Math.abs(centre / error), n - 1)
}
