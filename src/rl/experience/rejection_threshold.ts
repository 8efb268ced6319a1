// Reads the strings in which verl writes what a rejection criterion lets pass.
import {
  RS_UNBOUNDED,
  type RsCriterion,
} from '../../kernels/rollout_correction/rollout_correction.ts'

/** What a statistic must lie between to pass, inclusive; in nats for k1 (logs of the given
 * ratios). */
export interface RejectionBounds {
  readonly lower: number
  readonly upper: number
}

const PLAIN_NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i

function parseNumber(text: string, criterion: RsCriterion): number {
  const number = PLAIN_NUMBER.test(text.trim()) ? Number(text) : Number.NaN
  if (!(number > 0 && number < Number.POSITIVE_INFINITY))
    throw new RangeError(
      `rollout_rs_threshold for ${criterion}: expected a number above 0, got ${JSON.stringify(text)}`,
    )
  return number
}

/** verl's threshold of one criterion: `lower_upper`, or `u` for 1/u_u, as bounds of the log ratio
 * for k1; one upper bound for k2 and k3. RangeError for anything else and for numbers that are not
 * above 0. */
export function parseBounds(criterion: RsCriterion, threshold: string): RejectionBounds {
  const parts = threshold.split('_')
  if (!criterion.endsWith('k1')) {
    if (parts.length > 1)
      throw new RangeError(
        `rollout_rs_threshold for ${criterion}: expected one upper bound, got "${threshold}"`,
      )
    return { lower: RS_UNBOUNDED[`lower_${criterion}`], upper: parseNumber(threshold, criterion) }
  }
  if (parts.length > 2)
    throw new RangeError(
      `rollout_rs_threshold for ${criterion}: expected lower_upper, got "${threshold}"`,
    )
  const upper = parseNumber(parts[parts.length - 1], criterion)
  const lower = parts.length === 2 ? parseNumber(parts[0], criterion) : 1 / upper
  if (lower > upper)
    throw new RangeError(
      `rollout_rs_threshold for ${criterion}: expected lower <= upper, got ${lower} and ${upper}`,
    )
  return { lower: Math.log(lower), upper: Math.log(upper) }
}
