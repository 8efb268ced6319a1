// Scores how near a response is to the right answer, by the edits that lie between them.
import type { RewardKind } from './reward.ts'

/** Longer texts are cut: the work grows with the product of their lengths. */
const MOST_CHARACTERS = 2000

/** Fewest insertions, deletions and replacements of a character that make one text the other
 * (Levenshtein 1966). */
export function distance(a: readonly string[], b: readonly string[]): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++)
      next.push(Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)))
    row = next
  }
  return row[b.length]
}

const cut = (text: string) => [...text.slice(0, 2 * MOST_CHARACTERS)].slice(0, MOST_CHARACTERS)

/** 1 − distance / length of the longer text, to a power: 1 for the right answer, 0 where nothing is
 * alike. */
export const edit_distance: RewardKind = {
  id: 'edit_distance',
  label: 'Edit distance',
  help: 'The fewer characters must be changed to make the response the right answer, the better.',
  params: [
    {
      name: 'power',
      label: 'Power',
      help: 'The score is taken to this power: above 1, near misses are worth less.',
      kind: 'number',
      default: 1,
      min: 1,
      max: 8,
      step: 1,
      unit: '',
    },
  ],
  is_verifier: true,
  create:
    ({ power }) =>
    ({ solution_str, ground_truth }) => {
      const [a, b] = [cut(solution_str), cut(ground_truth)]
      const longer = Math.max(a.length, b.length)
      const near = longer === 0 ? 1 : 1 - distance(a, b) / longer
      let score = 1
      for (let i = 0; i < Number(power); i++) score *= near
      return score
    },
}
