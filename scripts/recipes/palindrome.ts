// Rewards a response that reads the same backwards.
import type { RewardKind } from './reward.ts'

/** 1 where the response is the same backwards, else 0. */
export const palindrome: RewardKind = {
  id: 'palindrome',
  label: 'Palindrome',
  help: 'The response reads the same backwards.',
  params: [
    {
      name: 'least',
      label: 'Least length',
      help: 'Shorter responses score 0.',
      kind: 'number',
      default: 2,
      min: 0,
      max: 1000,
      step: 1,
      unit: 'characters',
    },
  ],
  is_verifier: false,
  create:
    ({ least }) =>
    ({ solution_str }) => {
      const signs = [...solution_str]
      const isLong = signs.length >= Number(least)
      return isLong && signs.toReversed().join('') === solution_str ? 1 : 0
    },
}
