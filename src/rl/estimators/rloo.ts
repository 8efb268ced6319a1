// Computes RLOO's advantages: the score of a response against the mean of the others to the same
// prompt.
import { line } from '../math/formula.ts'
import { type EstimatedToken, groupValues } from './estimated_token.ts'
import { estimator, perResponse } from './estimator.ts'
import { byGroup, groupMean, type Scores } from './groups.ts'

/** RLOO: a_b = s_b minus the mean of the others = (s_b - mean_g)·n/(n - 1) (Ahmadian et al. 2024,
 * arXiv 2402.14740; verl compute_rloo_outcome_advantage). A group of one keeps its score; with
 * `zeroSingletons`, as in rloo_vectorized, it gets 0. */
export function rlooAdvantages(
  scores: Scores,
  index: ArrayLike<number>,
  { zeroSingletons = false }: { zeroSingletons?: boolean } = {},
): Float64Array {
  return byGroup(index, (rows) => {
    const n = rows.length
    if (n === 1) return (b) => (zeroSingletons ? 0 : scores[b])
    const mean = groupMean(scores, rows)
    return (b) => ((scores[b] - mean) * n) / (n - 1)
  })
}

const formula = (keepsLoneScore: boolean) => ({
  lines: [
    line('advantage', '({score} − {group_mean}) · {n} / ({n} − 1)'),
    line('lone_advantage', '{score}'),
    line('no_advantage', '0'),
  ],
  symbols: { lone_advantage: 'A' },
  note: 'The score against the mean of the other responses to the same prompt.',
  values: (token: EstimatedToken): Readonly<Record<string, number>> => {
    const { score, group_mean, n } = groupValues(token)
    if (n > 1) return { score, group_mean, n, advantage: ((score - group_mean) * n) / (n - 1) }
    return keepsLoneScore ? { score, lone_advantage: score } : { no_advantage: 0 }
  },
})

export const rloo = estimator({
  name: 'rloo',
  label: 'RLOO',
  isTokenwise: false,
  comparesGroups: true,
  needs: [],
  settings: [],
  estimate: perResponse((scores, { index }) => rlooAdvantages(scores, index)),
  formula: formula(true),
})

export const rloo_vectorized = estimator({
  name: 'rloo_vectorized',
  label: 'RLOO, vectorized',
  isTokenwise: false,
  comparesGroups: true,
  needs: [],
  settings: [],
  estimate: perResponse((scores, { index }) =>
    rlooAdvantages(scores, index, { zeroSingletons: true }),
  ),
  formula: formula(false),
})
