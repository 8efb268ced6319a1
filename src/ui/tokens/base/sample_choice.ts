// Holds which response of a traced step is shown.
import type { TracedSample } from '../../../host/protocol/results.ts'

export type Choice = 'best' | 'worst' | number

/** Whether the responses to its prompt were scored differently: else all advantages are alike. */
const isToldApart = ({ group: { rewards } }: TracedSample): boolean =>
  rewards.some((reward) => reward !== rewards[0])

/** The sample of that choice: the first with the best or worst score, of a group that teaches where
 * there is one; or the one at a place. */
export function placeOf(samples: readonly TracedSample[], choice: Choice): number {
  if (typeof choice === 'number') return Math.min(choice, samples.length - 1)
  const sign = choice === 'best' ? 1 : -1
  const all = samples.map((sample, i) => ({ sample, i }))
  const taught = all.filter(({ sample }) => isToldApart(sample))
  return (taught.length > 0 ? taught : all).reduce((found, other) =>
    sign * other.sample.score > sign * found.sample.score ? other : found,
  ).i
}
