// Estimates how many seeds would settle a difference: the power of the paired t test.
import { lnGamma, studentQuantile } from './student.ts'

/** Φ(x), from the complementary error function (Numerical Recipes' Chebyshev fit, relative error
 * below 1.2e-7). */
export function normalCdf(x: number): number {
  const z = Math.abs(x) / Math.SQRT2
  const t = 1 / (1 + z / 2)
  const fit = [
    -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398,
    1.48851587, -0.82215223, 0.17087277,
  ].reduceRight((sum, c) => sum * t + c, 0)
  const tail = (t * Math.exp(-z * z + fit)) / 2
  return x > 0 ? 1 - tail : tail
}

/** Points of the integral below. */
const POINTS = 400

/** The power of the two-sided paired t test with n pairs whose differences have mean `effect` in
 * units of their standard deviation: P(|T| > t) of the noncentral t, ∫ Φ(δ ∓ t·s) over the
 * distribution of s = √(χ²/ν), by Simpson's rule. */
export function pairedPower(n: number, effect: number, alpha = 0.05): number {
  const degrees = n - 1
  const limit = studentQuantile(1 - alpha / 2, degrees)
  const delta = effect * Math.sqrt(n)
  // The density of s, and where it ends.
  const scale = Math.log(2) + (degrees / 2) * Math.log(degrees / 2) - lnGamma(degrees / 2)
  const density = (s: number) =>
    s <= 0 ? 0 : Math.exp(scale + (degrees - 1) * Math.log(s) - (degrees * s * s) / 2)
  const width = (1 + 8 / Math.sqrt(2 * degrees)) / POINTS
  let power = 0
  for (let i = 0; i <= POINTS; i++) {
    const s = i * width
    const weight = i === 0 || i === POINTS ? 1 : i % 2 === 1 ? 4 : 2
    const beyond = normalCdf(delta - limit * s) + normalCdf(-delta - limit * s)
    // With one degree of freedom the density is not 0 at 0.
    const at = i === 0 && degrees === 1 ? Math.exp(scale) : density(s)
    power += weight * at * beyond
  }
  return Math.min(1, (power * width) / 3)
}

/** More seeds than these are not worth a count. */
export const MOST_SEEDS = 1000

/** The fewest pairs with which the paired t test finds a difference of this mean and standard
 * deviation with 80 % power at 5 %; undefined where more than MOST_SEEDS were needed or the
 * difference is 0. */
export function seedsNeeded(mean: number, deviation: number, power = 0.8): number | undefined {
  if (mean === 0) return undefined
  if (deviation === 0) return 2
  const effect = Math.abs(mean) / deviation
  const isEnough = (n: number) => pairedPower(n, effect) >= power
  if (!isEnough(MOST_SEEDS)) return undefined
  let [low, high] = [1, 2]
  while (!isEnough(high)) [low, high] = [high, Math.min(MOST_SEEDS, high * 2)]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (isEnough(middle)) high = middle
    else low = middle
  }
  return high
}

/** The smallest mean difference, in units of the differences' standard deviation, that n pairs find
 * with this power at 5 %: the inverse of pairedPower. */
export function smallestEffect(n: number, power = 0.8): number {
  let [low, high] = [0, 1]
  while (pairedPower(n, high) < power) high *= 2
  for (let i = 0; i < 40; i++) {
    const middle = (low + high) / 2
    if (pairedPower(n, middle) < power) low = middle
    else high = middle
  }
  return high
}
