// Computes GRPO in float32, as verl's vectorized variant computes it.
import { groupFormula } from './estimated_token.ts'
import { estimator, perResponse } from './estimator.ts'
import { byGroup, type GroupNorm, NORM_ADV_EPSILON, type Scores } from './groups.ts'

type Statistics = (scores: Scores, rows: readonly number[], epsilon: number) => MeanAndStd
interface MeanAndStd {
  readonly mean: number
  readonly std: number
}

/** GRPO as verl's vectorized variant computes it, mean and std of a group in float32
 * (verl/utils/groupwise.py group_mean_std). Up to verl 0.7: from Σs and Σs², the variance not below
 * epsilon, so that std is 1e-3 or more and near-ties differ from `grpoAdvantages`. verl's trainer
 * always divides here, whatever the configuration says; its function obeys the flag, as this one
 * does. */
export function grpoVectorizedAdvantages(
  scores: Scores,
  index: ArrayLike<number>,
  { norm_adv_by_std_in_grpo = true, norm_adv_epsilon: epsilon = NORM_ADV_EPSILON }: GroupNorm = {},
  statistics: Statistics = onePass,
): Float64Array {
  return byGroup(index, (rows) => {
    const { mean, std } = rows.length === 1 ? SINGLE : statistics(scores, rows, epsilon)
    const divisor = norm_adv_by_std_in_grpo ? Math.fround(std + epsilon) : 1
    return (b) => (scores[b] - mean) / divisor
  })
}

/** A group of one, as in verl. */
const SINGLE: MeanAndStd = { mean: 0, std: 1 }
const { fround } = Math

/** group_mean_std up to verl 0.7: each operation rounds to float32, in row order. */
function onePass(scores: Scores, rows: readonly number[], epsilon: number): MeanAndStd {
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

/** group_mean_std since verl 0.8: the squares are of centred scores, and the variance has no floor.
 * Float32, in row order. */
function twoPasses(scores: Scores, rows: readonly number[]): MeanAndStd {
  let sum = 0
  for (const b of rows) sum = fround(sum + fround(scores[b]))
  const mean = fround(sum / rows.length)
  let squares = 0
  for (const b of rows) {
    const centred = fround(fround(scores[b]) - mean)
    squares = fround(squares + fround(centred * centred))
  }
  return { mean, std: fround(Math.sqrt(fround(squares / (rows.length - 1)))) }
}

const SHARED = {
  isTokenwise: false,
  comparesGroups: true,
  needs: [],
  settings: ['norm_adv_by_std_in_grpo'],
} as const

export const grpo_vectorized = estimator({
  name: 'grpo_vectorized',
  label: 'GRPO, vectorized (verl up to 0.7)',
  ...SHARED,
  estimate: perResponse((scores, { index }, config) =>
    grpoVectorizedAdvantages(scores, index, config),
  ),
  formula: groupFormula((std, n, epsilon) =>
    n === 1 ? 1 : Math.sqrt(Math.max(std ** 2, epsilon)),
  ),
})

export const grpoVectorized0_8 = estimator({
  name: 'grpo_vectorized_0.8',
  label: 'GRPO, vectorized (verl 0.8 and later)',
  ...SHARED,
  estimate: perResponse((scores, { index }, config) =>
    grpoVectorizedAdvantages(scores, index, config, twoPasses),
  ),
  formula: groupFormula((std) => std),
})
