// Reduces what a run says of the parts of its reward to two numbers each: at its start and at its
// end.
import { mean } from '../../src/rl/math/stats.ts'

/** A step of reinforcement, counted from the end of the warm start, and a value. */
export type Point = readonly [step: number, value: number]

/** A part of a reward without its weight, before and after. */
export interface PartEnds {
  readonly first: number
  readonly last: number
}

export type PartsOfReward = Readonly<Record<string, PartEnds>>

/** Of samples on training prompts, means over the first and the last `edge` steps; where nothing is
 * reinforced, of the first and the last held-out samples. `points` are the values of a metric by
 * step. Empty where the reward is the task's score alone. */
export function partsOfReward(
  metrics: readonly string[],
  points: (metric: string) => readonly Point[],
  edge: number,
  rounded: (value: number) => number,
): PartsOfReward {
  const held = metrics.flatMap((metric) => {
    const [, part] = /^val-aux\/[^/]+\/([^/]+)\/mean@\d+$/.exec(metric) ?? []
    return part === undefined || part === 'reward' ? [] : [[part, metric] as const]
  })
  return Object.fromEntries(
    held.map(([part, metric]) => {
      const sampled = points(`reward/${part}/mean`).map(([, value]) => value)
      const ends =
        sampled.length > 0
          ? [mean(sampled.slice(0, edge)), mean(sampled.slice(-edge))]
          : [points(metric)[0][1], points(metric).at(-1)?.[1] ?? Number.NaN]
      return [part, { first: rounded(ends[0]), last: rounded(ends[1]) }]
    }),
  )
}
