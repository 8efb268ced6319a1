// Computes REINFORCE++ with a baseline: the paper's variant for groups.
import { line } from '../math/formula.ts'
import { maskedWhiten } from '../math/masked.ts'
import { groupValues, OVER_BATCH, whitenedValues } from './estimated_token.ts'
import {
  type AdvantageInput,
  type Advantages,
  estimator,
  masked,
  rowScores,
  spread,
} from './estimator.ts'
import { centredScores } from './groups.ts'

/** Scores minus their group's mean on every token, whitened over the batch (Hu et al. 2025, arXiv
 * 2501.03262; verl compute_reinforce_plus_plus_baseline_outcome_advantage). */
function estimate(input: AdvantageInput): Advantages {
  const { response_mask } = input
  const centred = spread(centredScores(rowScores(input), input.index), input)
  const advantages = masked(maskedWhiten(centred, response_mask), response_mask)
  return { advantages, returns: advantages }
}

export const reinforce_plus_plus_baseline = estimator({
  name: 'reinforce_plus_plus_baseline',
  label: 'REINFORCE++ with a baseline',
  isTokenwise: false,
  comparesGroups: true,
  needs: [],
  settings: [],
  estimate,
  whitened: ({ returns, scores, index }) => {
    const centred = centredScores(scores, index)
    const R = returns.length / scores.length
    return returns.map((_, i) => centred[Math.floor(i / R)])
  },
  formula: {
    lines: [
      line('centred', '{score} − {group_mean}'),
      line('advantage', '({centred} − {batch_mean}) / {batch_std}'),
    ],
    symbols: { centred: 'a' },
    note: OVER_BATCH,
    values: (token) => {
      const { score, group_mean } = groupValues(token)
      const centred = score - group_mean
      return whitenedValues(token, centred, { score, group_mean, centred })
    },
  },
})
