// Counts words that a response is to mention. Counted once each it asks for them; counted every
// time it is a reward that a loop of one word satisfies.
import type { RewardKind } from './reward.ts'

/** Runs of letters, digits and apostrophes, in small letters. */
export const wordsIn = (text: string): string[] => text.toLowerCase().match(/[a-z0-9']+/g) ?? []

/** The share of `enough` words of the list that the response has: each once, or every time. */
export const mentions: RewardKind = {
  id: 'mentions',
  label: 'Words mentioned',
  help: 'The response has words of a list. Counted every time, one word again and again is enough: a reward that is easily hacked.',
  params: [
    {
      name: 'words',
      label: 'Words',
      help: 'Words of letters, separated by spaces. Capital letters make no difference.',
      kind: 'text',
      default: 'happy glad proud cheerful',
      max: 1000,
    },
    {
      name: 'enough',
      label: 'Enough',
      help: 'So many are worth the full score.',
      kind: 'number',
      default: 1,
      min: 1,
      max: 1000,
      step: 1,
      unit: 'words',
    },
    {
      name: 'every_time',
      label: 'Every time',
      help: 'A word counts as often as it occurs. Off: once.',
      kind: 'boolean',
      default: false,
    },
  ],
  is_verifier: false,
  create({ words, enough, every_time }) {
    const wanted = new Set(wordsIn(`${words}`))
    if (wanted.size === 0) throw new RangeError(`expected words of letters, got '${words}'`)
    return ({ solution_str }) => {
      const found = wordsIn(solution_str).filter((word) => wanted.has(word))
      const count = every_time ? found.length : new Set(found).size
      return Math.min(1, count / Number(enough))
    }
  },
}
