// GRPO in float32, as verl's vectorized variant computes it.
import { groupFormula } from './estimated_token.ts'
import { estimator, perResponse } from './estimator.ts'
import { byGroup, type GroupNorm, NORM_ADV_EPSILON, type Scores } from './groups.ts'

/**
 * GRPO as verl's vectorized variant computes it: mean and std of a group in float32 from Σs and Σs², the variance not below
 * epsilon, so that std is 1e-3 or more and near-ties differ from `grpoAdvantages` (verl/utils/groupwise.py group_mean_std).
 * verl's trainer always divides here, whatever the configuration says; its function obeys the flag, as this one does.
 */
export function grpoVectorizedAdvantages(
  scores: Scores,
  index: ArrayLike<number>,
  { norm_adv_by_std_in_grpo = true, norm_adv_epsilon: epsilon = NORM_ADV_EPSILON }: GroupNorm = {},
): Float64Array {
  return byGroup(index, (rows) => {
    const { mean, std } = float32Statistics(scores, rows, epsilon)
    const divisor = norm_adv_by_std_in_grpo ? Math.fround(std + epsilon) : 1
    return (b) => (scores[b] - mean) / divisor
  })
}

/** verl's group_mean_std: each operation rounds to float32, in row order; a group of one has mean 0 and std 1. */
function float32Statistics(scores: Scores, rows: readonly number[], epsilon: number) {
  if (rows.length === 1) return { mean: 0, std: 1 }
  const { fround } = Math
  const count = rows.length
  let sum = 0
  let squares = 0
  for (const b of rows) {
    const score = fround(scores[b])
    sum = fround(sum + score)
    squares = fround(squares + fround(score * score))
  }
  const spread = fround(squares - fround(fround(sum * sum) / count))
  const variance = Math.max(fround(spread / (count - 1)), fround(epsilon))
  return { mean: fround(sum / count), std: fround(Math.sqrt(variance)) }
}

export const grpo_vectorized = estimator({
  name: 'grpo_vectorized',
  label: 'GRPO, vectorized',
  is_tokenwise: false,
  compares_groups: true,
  needs: [],
  settings: ['norm_adv_by_std_in_grpo'],
  estimate: perResponse((scores, { index }, config) =>
    grpoVectorizedAdvantages(scores, index, config),
  ),
  formula: groupFormula((std, n, epsilon) =>
    n === 1 ? 1 : Math.sqrt(Math.max(std ** 2, epsilon)),
  ),
})
