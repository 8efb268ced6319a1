// Reads the number or text in which verl writes how far importance weights may be from 1.

/** Weights above `upper` become it; where there is a `lower` (IcePop), weights outside of both
 * become 0. */
export interface WeightBounds {
  readonly lower: number | null
  readonly upper: number
}

const PLAIN_NUMBER = /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i

/** verl's rollout_is_threshold: a number or its text, or since verl 0.8 `lower_upper`
 * (verl/trainer/ppo/rollout_corr_helper.py). RangeError unless all are above 0 and lower <=
 * upper. */
export function weightBounds(threshold: number | string): WeightBounds {
  const parts = `${threshold}`.split('_')
  const numbers = parts.map((part) => (PLAIN_NUMBER.test(part) ? Number(part) : Number.NaN))
  if (parts.length > 2 || numbers.some((x) => !(x > 0 && x < Number.POSITIVE_INFINITY)))
    throw new RangeError(
      `rollout_is_threshold: expected a number above 0 or lower_upper, got ${threshold}`,
    )
  if (numbers.length === 1) return { lower: null, upper: numbers[0] }
  const [lower, upper] = numbers
  if (lower > upper)
    throw new RangeError(`rollout_is_threshold: expected lower <= upper, got ${threshold}`)
  return { lower, upper }
}

/** What is left of a weight. */
export const boundedWeight = (weight: number, { lower, upper }: WeightBounds): number =>
  lower === null ? Math.min(weight, upper) : weight >= lower && weight <= upper ? weight : 0
