// Scores by length: a response of a wanted length gets 1, and less the farther from it.
import type { RewardKind } from './reward.ts'

/** 1 from `shortest` to `longest` characters; outside of it less by 1/`slope` for each character,
 * down to 0. */
export const length: RewardKind = {
  id: 'length',
  label: 'Length',
  help: 'The response has a wanted number of characters. A negative weight makes it a penalty.',
  params: [
    {
      name: 'shortest',
      label: 'Shortest',
      help: 'Fewest characters of full score.',
      kind: 'number',
      default: 1,
      min: 0,
      max: 100_000,
      step: 1,
      unit: 'characters',
    },
    {
      name: 'longest',
      label: 'Longest',
      help: 'Most characters of full score.',
      kind: 'number',
      default: 200,
      min: 0,
      max: 100_000,
      step: 1,
      unit: 'characters',
    },
    {
      name: 'slope',
      label: 'Slope',
      help: 'Characters outside of the range until the score is 0.',
      kind: 'number',
      default: 100,
      min: 1,
      max: 100_000,
      step: 1,
      unit: 'characters',
    },
  ],
  is_verifier: false,
  create({ shortest, longest, slope }) {
    if (Number(shortest) > Number(longest))
      throw new RangeError(
        `expected shortest to be at most longest, got ${shortest} and ${longest}`,
      )
    return ({ solution_str }) => {
      const { length: characters } = [...solution_str]
      const outside = Math.max(Number(shortest) - characters, characters - Number(longest), 0)
      return Math.max(0, 1 - outside / Number(slope))
    }
  },
}
