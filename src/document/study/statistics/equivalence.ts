// Tests whether a mean difference is smaller than a margin, which a test that finds no difference
// does not say.
import { mean, variance } from '../../../rl/math/stats.ts'
import { studentCdf } from './student.ts'

/** p of the two one-sided t tests (TOST; Schuirmann 1987) that the mean of `differences` lies
 * between -margin and margin: the larger of both. Undefined for fewer than two. */
export function equivalenceTest(
  differences: readonly number[],
  margin: number,
): number | undefined {
  const n = differences.length
  if (n < 2) return undefined
  const centre = mean(differences)
  const error = Math.sqrt(variance(differences, { unbiased: true }) / n)
  if (error === 0) return Math.abs(centre) < margin ? 0 : 1
  const below = studentCdf(-(centre + margin) / error, n - 1)
  const above = studentCdf((centre - margin) / error, n - 1)
  return Math.max(below, above)
}
