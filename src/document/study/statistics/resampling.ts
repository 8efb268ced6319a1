// Computes bootstrap intervals and tests that flip signs. They are seeded, so a report is the same
// each time.
import { Mt19937 } from '../../../rl/math/mt19937.ts'
import { mean } from '../../../rl/math/stats.ts'
import type { Interval } from './student.ts'

/** Resamples of a bootstrap, and flips of a permutation test that is too large to count out. */
const RESAMPLES = 10_000
/** Up to so many pairs, every choice of signs is counted. */
const COUNTED = 16

/** The q quantile of sorted values, linear between them (numpy's default). */
function quantile(sorted: readonly number[], q: number): number {
  const at = (sorted.length - 1) * q
  const below = Math.floor(at)
  const above = Math.min(below + 1, sorted.length - 1)
  return sorted[below] + (at - below) * (sorted[above] - sorted[below])
}

/** The percentile bootstrap of a statistic over values drawn with replacement:
 * numpy.random.seed(seed), then one choice of n of n per resample. Undefined for fewer than two
 * values. */
export function bootstrapInterval(
  values: readonly number[],
  statistic: (drawn: readonly number[]) => number = mean,
  { level = 0.95, resamples = RESAMPLES, seed = 0 } = {},
): Interval | undefined {
  const n = values.length
  if (n < 2) return undefined
  const random = new Mt19937(seed)
  const found = Array.from({ length: resamples }, () =>
    statistic(Array.from(random.integers(n, n), (i) => values[i])),
  ).sort((a, b) => a - b)
  return {
    low: quantile(found, 0.5 - level / 2),
    high: quantile(found, 0.5 + level / 2),
  }
}

/** Two-sided p of the sign-flip permutation test that paired differences are as likely positive as
 * negative: the share of all choices of signs (of RESAMPLES random ones, and the one at hand, above
 * 16 pairs) whose mean is at least as far from 0. 1 without pairs. */
export function signFlipTest(differences: readonly number[], seed = 0): number {
  const n = differences.length
  if (n === 0) return 1
  const least = Math.abs(mean(differences)) * n * (1 - 1e-12)
  const sumOf = (isNegative: (i: number) => boolean) =>
    differences.reduce((sum, d, i) => sum + (isNegative(i) ? -d : d), 0)
  if (n <= COUNTED) {
    let extreme = 0
    for (let signs = 0; signs < 2 ** n; signs++)
      if (Math.abs(sumOf((i) => ((signs >> i) & 1) === 1)) >= least) extreme++
    return extreme / 2 ** n
  }
  const random = new Mt19937(seed)
  let extreme = 1
  for (let k = 0; k < RESAMPLES; k++) {
    const flips = random.integers(2, n)
    if (Math.abs(sumOf((i) => flips[i] === 1)) >= least) extreme++
  }
  return extreme / (RESAMPLES + 1)
}

/** Two-sided p of the sign test; pairs without a difference are left out. 1 where none is left. */
export function signTest(differences: readonly number[]): number {
  const n = differences.filter((d) => d !== 0).length
  const positive = differences.filter((d) => d > 0).length
  const fewer = Math.min(positive, n - positive)
  let [term, tail] = [2 ** -n, 0]
  for (let k = 0; k <= fewer; k++) {
    tail += term
    term *= (n - k) / (k + 1)
  }
  return Math.min(1, 2 * tail)
}

/** Holm's correction (1979): p values adjusted for all of them together, in the given order. */
export function holm(p: readonly number[]): number[] {
  const order = p.map((_, i) => i).sort((a, b) => p[a] - p[b])
  const adjusted = p.map(() => 1)
  let largest = 0
  order.forEach((i, rank) => {
    largest = Math.max(largest, Math.min(1, (p.length - rank) * p[i]))
    adjusted[i] = largest
  })
  return adjusted
}
