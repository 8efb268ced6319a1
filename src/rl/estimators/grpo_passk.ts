// Computes GRPO's advantages for pass@k: only the best response of a group counts.
import { line } from '../math/formula.ts'
import { epsilonOf, groupValues } from './estimated_token.ts'
import { estimator, perResponse } from './estimator.ts'
import { byGroup, type GroupNorm, groupStd, NORM_ADV_EPSILON, type Scores } from './groups.ts'

/** Pass@k: only the best response of a group counts, a = (s_max - s_second) / (std_g + epsilon);
 * all others get 0 (arXiv
 * 2503.19595; verl compute_grpo_passk_outcome_advantage). Throws RangeError for a group of one. */
export function grpoPasskAdvantages(
  scores: Scores,
  index: ArrayLike<number>,
  { norm_adv_by_std_in_grpo = true, norm_adv_epsilon: epsilon = NORM_ADV_EPSILON }: GroupNorm = {},
): Float64Array {
  return byGroup(index, (rows) => {
    if (rows.length < 2)
      throw new RangeError(
        `grpo_passk: expected 2 responses or more in each group, found 1 in group ${index[rows[0]]}`,
      )
    const [best, second] = [...rows].sort((a, b) => scores[b] - scores[a])
    const divisor = norm_adv_by_std_in_grpo ? groupStd(scores, rows) + epsilon : 1
    const advantage = (scores[best] - scores[second]) / divisor
    return (b) => (b === best ? advantage : 0)
  })
}

export const grpo_passk = estimator({
  name: 'grpo_passk',
  label: 'GRPO for pass@k',
  isTokenwise: false,
  comparesGroups: true,
  needs: [],
  settings: ['norm_adv_by_std_in_grpo'],
  estimate: perResponse((scores, { index }, config) => grpoPasskAdvantages(scores, index, config)),
  formula: {
    lines: [
      line('advantage', '({best} − {second}) / ({group_std} + {epsilon})'),
      line('centred_advantage', '{best} − {second}'),
      line('no_advantage', '0'),
    ],
    symbols: { best: 's_best', second: 's_second' },
    note: 'Only the best response to a prompt counts.',
    values: (token) => {
      const { rewards, place } = token.sample.group
      const [first, next] = [...rewards.keys()].sort((a, b) => rewards[b] - rewards[a])
      if (place !== first) return { no_advantage: 0 }
      const [best, second] = [rewards[first], rewards[next]]
      if (!token.table.phase.algorithm.norm_adv_by_std_in_grpo)
        return { best, second, centred_advantage: best - second }
      const { group_std } = groupValues(token)
      const epsilon = epsilonOf(token)
      const advantage = (best - second) / (group_std + epsilon)
      return { best, second, group_std, epsilon, advantage }
    },
  },
})
