// Computes GRPO with the spread of the whole batch in place of the group's.
import { line } from '../math/formula.ts'
import { variance } from '../math/stats.ts'
import { type EstimatedToken, epsilonOf, groupValues } from './estimated_token.ts'
import { estimator, perResponse } from './estimator.ts'
import { byGroup, groupMean, NORM_ADV_EPSILON, type Scores } from './groups.ts'

/** The unbiased standard deviation over all responses of a batch; 0 where they are equal, or fewer
 * than two. */
export function batchStd(scores: Scores): number {
  if (Array.from(scores).every((score) => score === scores[0])) return 0
  return Math.sqrt(variance(scores, { unbiased: true }))
}

/** a_b = (s_b - mean_g) / (std + epsilon): the mean is that of the group, the unbiased standard
 * deviation that of all responses of the batch (Liu et al. 2025, arXiv 2508.08221; TRL GRPOConfig
 * scale_rewards "batch"). A prompt that is nearly solved is not blown up, as it is where its own
 * small spread divides. A group of one has advantage 0. */
export function grpoBatchStdAdvantages(
  scores: Scores,
  index: ArrayLike<number>,
  { norm_adv_epsilon: epsilon = NORM_ADV_EPSILON }: { norm_adv_epsilon?: number } = {},
): Float64Array {
  const divisor = batchStd(scores) + epsilon
  return byGroup(index, (rows) => {
    const mean = rows.length === 1 ? scores[rows[0]] : groupMean(scores, rows)
    return (b) => (scores[b] - mean) / divisor
  })
}

export const grpo_batch_std = estimator({
  name: 'grpo_batch_std',
  label: 'GRPO, spread of the batch (TRL: scale_rewards batch)',
  isTokenwise: false,
  comparesGroups: true,
  needs: [],
  settings: ['norm_adv_epsilon'],
  estimate: perResponse((scores, { index }, config) =>
    grpoBatchStdAdvantages(scores, index, config),
  ),
  formula: {
    lines: [line('advantage', '({score} − {group_mean}) / ({batch_std} + {epsilon})')],
    note: 'The mean is of the responses to the same prompt, the standard deviation of the rewards of all responses of the batch; every token of a response has the same advantage.',
    values: (token: EstimatedToken) => {
      const { score, group_mean: mean, n } = groupValues(token)
      const group_mean = n === 1 ? score : mean
      const { reward_std: batch_std } = token.table
      // Tables that were recorded before this estimator was there do not have it.
      if (batch_std === undefined) return { score, group_mean }
      const epsilon = epsilonOf(token)
      const advantage = (score - group_mean) / (batch_std + epsilon)
      return { score, group_mean, batch_std, epsilon, advantage }
    },
  },
})
