// Scores how varied a response is, by the share of its n-grams of words that are different
// (distinct-n; Li et al. 2016, arXiv 1510.03055, section 5).
import { wordsIn } from './mentions.ts'
import type { RewardKind } from './reward.ts'

/** Different n-grams of words by all of them, from 0 to 1; 0 where the text has none. */
export function distinctShare(text: string, n: number): number {
  const words = wordsIn(text)
  const count = words.length - n + 1
  if (count < 1) return 0
  return (
    new Set(Array.from({ length: count }, (_, i) => words.slice(i, i + n).join(' '))).size / count
  )
}

/** The share of different n-grams. */
export const distinct_ngrams: RewardKind = {
  id: 'distinct_ngrams',
  label: 'Variety',
  help: 'The share of different n-grams of words in the response, which falls where it repeats itself.',
  params: [
    {
      name: 'ngram',
      label: 'Words of an n-gram',
      help: 'Words that are looked at together.',
      kind: 'number',
      default: 2,
      min: 1,
      max: 10,
      step: 1,
      unit: 'words',
    },
  ],
  is_verifier: false,
  create:
    ({ ngram }) =>
    ({ solution_str }) =>
      distinctShare(solution_str, Number(ngram)),
}
