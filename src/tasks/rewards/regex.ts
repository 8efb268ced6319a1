// Matches a pattern that the response has to match. Matching never backtracks (pattern.ts), so no
// pattern can take long.
import { compilePattern, matches } from './pattern.ts'
import type { RewardKind } from './reward.ts'

/** 1 where the pattern matches, else 0. */
export const regex: RewardKind = {
  id: 'regex',
  label: 'Regular expression',
  help: 'The response matches a pattern. Its match takes time in proportion to the text, so look-around and back references are refused.',
  params: [
    {
      name: 'pattern',
      label: 'Pattern',
      help: 'Characters, . [a-z] \\d \\w \\s, groups, | * + ? {n,m}, ^ and $ for the ends of the text, \\b.',
      kind: 'text',
      default: '^\\d+$',
      max: 1000,
    },
    {
      name: 'whole',
      label: 'Whole response',
      help: 'The pattern has to match all of the response. Off: a part of it is enough.',
      kind: 'boolean',
      default: false,
    },
  ],
  is_verifier: false,
  create({ pattern, whole }) {
    const code = compilePattern(`${pattern}`)
    return ({ solution_str }) => (matches(code, solution_str, whole === true) ? 1 : 0)
  },
}
