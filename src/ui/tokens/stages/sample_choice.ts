// Which response of a traced step is shown.
import type { TracedSample } from '../../../host/protocol/results.ts'

export type Choice = 'best' | 'worst' | number

/** The sample of that choice: the first with the best or worst score, or the one at a place. */
export function placeOf(samples: readonly TracedSample[], choice: Choice): number {
  if (typeof choice === 'number') return Math.min(choice, samples.length - 1)
  const sign = choice === 'best' ? 1 : -1
  return samples.reduce(
    (found, { score }, i) => (sign * score > sign * samples[found].score ? i : found),
    0,
  )
}
