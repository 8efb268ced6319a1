// Compares with the right answer in other letters: case, spaces, punctuation and articles do not
// count (the exact match of SQuAD's evaluation).
import type { RewardKind } from './reward.ts'

const PUNCTUATION = /[!"#$%&'()*+,\-./:;<=>?@[\\\]^_`{|}~]/g
const SPACES = /[ \t\n\r\f\v]+/g
const trimmed = (text: string) => text.replace(SPACES, ' ').replace(/^ | $/g, '')

/** 1 where response and right answer are the same once both are normalised, else 0. */
export const normalised_match: RewardKind = {
  id: 'normalised_match',
  label: 'Normalised match',
  help: 'The response is the right answer, whatever its case, spaces, punctuation and articles.',
  params: [
    {
      name: 'articles',
      label: 'Leave articles out',
      help: 'The words a, an and the do not count.',
      kind: 'boolean',
      default: true,
    },
    {
      name: 'punctuation',
      label: 'Leave punctuation out',
      help: 'Signs such as . , ! do not count. Off where a minus or a decimal point matters.',
      kind: 'boolean',
      default: true,
    },
  ],
  is_verifier: true,
  create({ articles, punctuation }) {
    const normalised = (text: string) => {
      const lower = text.normalize('NFKC').toLowerCase()
      const plain = punctuation ? lower.replace(PUNCTUATION, '') : lower
      return trimmed(articles ? trimmed(plain).replace(/(^| )(a|an|the)(?= |$)/g, '$1') : plain)
    }
    return ({ solution_str, ground_truth }) =>
      normalised(solution_str) === normalised(ground_truth) ? 1 : 0
  },
}
