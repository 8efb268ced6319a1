// Tells advantages from what rounding leaves where all responses scored alike.

import type { TracedSample } from '../../rl/look/token_table.ts'
import { VARIANCE_EPSILON } from '../../rl/math/masked.ts'

/** Relative rounding of float32, in which trainers hold rewards and advantages. */
const FLOAT32 = 2 ** -24
/** What whitening divides by where nothing differs: it makes rounding this much larger. */
const LEAST_STD = Math.sqrt(VARIANCE_EPSILON)

const largestOf = (values: readonly number[]) =>
  values.reduce((most, value) => Math.max(most, Math.abs(value) || 0), 0)

export interface AdvantageNoise {
  /** An advantage of this size or less is rounding. */
  readonly floor: number
  /** No response was better than another, and no advantage is more than rounding. */
  readonly isAlike: boolean
}

/** Of the responses of one step: the sum of each one's rewards, and all their advantages. Rewards
 * within float32's rounding of each other are alike; the difference of a reward and a mean of such
 * is at most that rounding, and an advantage that over the least spread. Elsewhere an advantage is
 * noise where the largest one's rounding hides it. */
export function advantageNoise(
  rewards: readonly number[],
  advantages: readonly number[],
): AdvantageNoise {
  const rounding = FLOAT32 * largestOf(rewards)
  const largest = largestOf(advantages)
  const left = rounding / LEAST_STD
  const isAlike = largest <= left && rewards.every((one) => Math.abs(one - rewards[0]) <= rounding)
  return { floor: isAlike ? left : FLOAT32 * largest, isAlike }
}

/** Each array of traced responses is one step's. */
const known = new WeakMap<readonly TracedSample[], AdvantageNoise>()

/** The same of a traced step. */
export function noiseOf(samples: readonly TracedSample[]): AdvantageNoise {
  const before = known.get(samples)
  if (before) return before
  const noise = advantageNoise(
    samples.map(({ group }) => group.rewards[group.place]),
    samples.flatMap(({ columns }) => columns.advantages ?? []),
  )
  known.set(samples, noise)
  return noise
}

/** An advantage, 0 where it is only rounding. */
export const withoutNoise = (advantage: number, { floor }: AdvantageNoise): number =>
  Math.abs(advantage) <= floor ? 0 : advantage
