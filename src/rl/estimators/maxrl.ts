// Computes MaxRL's advantages: the score of a response against the mean of its group, in units of
// that mean.
import { line } from '../math/formula.ts'
import { groupValues } from './estimated_token.ts'
import { estimator, perResponse } from './estimator.ts'
import { byGroup, isFlat, type Scores, sumOf } from './groups.ts'

/** Whose rule holds where the mean of a group is no divisor: prime-rl's, SkyRL's or that of the
 * paper's own code. */
export type MaxRlGuards = 'prime_rl' | 'skyrl' | 'authors'

/** What SkyRL and the paper's own code add to the mean. */
const MAXRL_EPSILON = 1e-6

/** Also of a group of one, where other estimators have 0. */
const meanOf = (scores: Scores, rows: readonly number[]): number =>
  isFlat(scores, rows) ? scores[rows[0]] : sumOf(rows, (b) => scores[b]) / rows.length

/** MaxRL: a_b = (s_b - mean_g)/mean_g over the group g of responses to one prompt (arXiv
 * 2602.02710). Of rewards 0 and 1 the mean is the pass rate p, so a right answer has 1/p - 1 and a
 * wrong one -1: the gradient is that of log p, up to the group's size.
 *
 * scores [B], index [B] → advantages [B]. A group of one, and one whose mean is not above 0, has
 * advantage 0 (prime-rl, algo/max_rl.py). `skyrl` and `authors` add epsilon to the mean and keep
 * its sign; a group of one has its score there, or its score divided by epsilon. */
export function maxrlAdvantages(
  scores: Scores,
  index: ArrayLike<number>,
  { guards = 'prime_rl', epsilon = MAXRL_EPSILON }: { guards?: MaxRlGuards; epsilon?: number } = {},
): Float64Array {
  return byGroup(index, (rows) => {
    const mean = meanOf(scores, rows)
    const isSingle = rows.length === 1
    if (guards === 'prime_rl')
      return (b) => (isSingle || !(mean > 0) ? 0 : (scores[b] - mean) / mean)
    if (isSingle) return (b) => (guards === 'skyrl' ? scores[b] : scores[b] / epsilon)
    return (b) => (scores[b] - mean) / (mean + epsilon)
  })
}

export const maxrl = estimator({
  name: 'maxrl',
  label: 'MaxRL, divided by the group’s mean',
  isTokenwise: false,
  comparesGroups: true,
  needs: [],
  settings: [],
  estimate: perResponse((scores, { index }) => maxrlAdvantages(scores, index)),
  formula: {
    lines: [
      line('advantage', '({score} − {group_mean}) / {group_mean}'),
      line('no_advantage', '0 · ({score} − {group_mean})'),
    ],
    symbols: { no_advantage: 'advantage' },
    note: 'The mean is of the responses to the same prompt: of rewards 0 and 1 it is the share of right ones. A prompt whose mean is not above 0, or with one response, has advantage 0.',
    values: (token) => {
      const { score, group_mean, n } = groupValues(token)
      if (n === 1 || !(group_mean > 0)) return { score, group_mean, no_advantage: 0 }
      return { score, group_mean, advantage: (score - group_mean) / group_mean }
    },
  },
})
