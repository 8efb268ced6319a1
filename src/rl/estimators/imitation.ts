// Computes advantages for learning from one's own best: responses that are kept are imitated, the
// others teach nothing.
import { type Formula, line } from '../math/formula.ts'
import { type EstimatedToken, groupValues } from './estimated_token.ts'
import { estimator, perResponse } from './estimator.ts'
import { byGroup, type Scores } from './groups.ts'

/** Rejection sampling, the step of expert iteration: a_b = 1 where the response scores at least 1,
 * which is right, else 0 (STaR, arXiv 2203.14465; RFT, arXiv 2308.01825). With the loss gpg the
 * gradient is that of imitating the right responses. */
export const rejectionAdvantages = (scores: Scores): Float64Array =>
  Float64Array.from(scores, (score) => (score >= 1 ? 1 : 0))

/** Best of n: a_b = 1 for the first response of its group with the group's highest score, else 0,
 * however low that score is (RAFT, arXiv 2304.06767). */
export const bestOfGroupAdvantages = (scores: Scores, index: ArrayLike<number>): Float64Array =>
  byGroup(index, (rows) => {
    const best = rows.reduce((found, b) => (scores[b] > scores[found] ? b : found))
    return (b) => (b === best ? 1 : 0)
  })

/** Whether a response is imitated. */
const keptFormula = (
  isKept: (token: EstimatedToken) => boolean,
  note: string,
): Formula<EstimatedToken> => ({
  lines: [line('advantage', '1 + 0 · {score}'), line('no_advantage', '0 · {score}')],
  symbols: { no_advantage: 'advantage' },
  note,
  values: (token) => {
    const { score } = groupValues(token)
    return isKept(token) ? { score, advantage: 1 } : { score, no_advantage: 0 }
  },
})

export const rejection_sampling = estimator({
  name: 'rejection_sampling',
  label: 'Rejection sampling: imitate right responses (expert iteration)',
  isTokenwise: false,
  comparesGroups: false,
  needs: [],
  settings: [],
  estimate: perResponse((scores) => rejectionAdvantages(scores)),
  formula: keptFormula(
    (token) => groupValues(token).score >= 1,
    'A response that scores at least 1 is imitated; the others teach nothing.',
  ),
})

export const best_of_n = estimator({
  name: 'best_of_n',
  label: 'Best of n: imitate the best response to each prompt (RAFT)',
  isTokenwise: false,
  comparesGroups: true,
  needs: [],
  settings: [],
  estimate: perResponse((scores, { index }) => bestOfGroupAdvantages(scores, index)),
  formula: keptFormula(({ sample }) => {
    const { rewards, place } = sample.group
    return place === rewards.indexOf(Math.max(...rewards))
  }, 'The best response to each prompt is imitated, of equal ones the first; the others teach nothing.'),
})
