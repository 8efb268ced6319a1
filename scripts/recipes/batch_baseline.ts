// Declares REINFORCE with the mean score of the whole batch as its baseline.
import { line } from '../math/formula.ts'
import { numberAt } from './estimated_token.ts'
import { estimator, perResponse } from './estimator.ts'

/** a_b = s_b - mean of all scores of the batch; it compares no groups (Williams 1992, the average
 * reward as baseline). */
export const batch_baseline = estimator({
  name: 'batch_baseline',
  label: 'REINFORCE with a batch baseline',
  isTokenwise: false,
  comparesGroups: false,
  needs: [],
  settings: [],
  estimate: perResponse((scores) => {
    const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length
    return scores.map((score) => score - mean)
  }),
  formula: {
    lines: [line('advantage', '{score} − {batch_score}')],
    symbols: { batch_score: 'mean s of the batch' },
    note: 'The mean is over all responses of the batch.',
    values: (token) => {
      const { rewards, place } = token.sample.group
      const score = rewards[place]
      const advantage = numberAt(token, 'advantages')
      return { score, batch_score: score - advantage, advantage }
    },
  },
})
