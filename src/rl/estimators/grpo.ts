// Computes GRPO's advantages: the score of a response against the responses to the same prompt.
import { groupFormula } from './estimated_token.ts'
import { estimator, perResponse } from './estimator.ts'
import {
  byGroup,
  type GroupNorm,
  groupMean,
  groupStd,
  NORM_ADV_EPSILON,
  type Scores,
} from './groups.ts'

/** GRPO: a_b = (s_b - mean_g) / (std_g + epsilon) over the group g of responses to one prompt, with
 * the unbiased std (Shao et al. 2024, arXiv 2402.03300 section 4.1; verl/trainer/ppo/core_algos.py
 * compute_grpo_outcome_advantage). Without `norm_adv_by_std_in_grpo` only the mean is subtracted
 * (Dr. GRPO, arXiv 2503.20783).
 *
 * scores [B], index [B] → advantages [B]. A group of one has mean 0 and std 1 in verl: its raw
 * score, divided by 1 + epsilon in float32. */
export function grpoAdvantages(
  scores: Scores,
  index: ArrayLike<number>,
  { norm_adv_by_std_in_grpo = true, norm_adv_epsilon: epsilon = NORM_ADV_EPSILON }: GroupNorm = {},
): Float64Array {
  return byGroup(index, (rows) => {
    const mean = groupMean(scores, rows)
    if (!norm_adv_by_std_in_grpo) return (b) => scores[b] - mean
    const divisor = rows.length === 1 ? Math.fround(1 + epsilon) : groupStd(scores, rows) + epsilon
    return (b) => (scores[b] - mean) / divisor
  })
}

export const grpo = estimator({
  name: 'grpo',
  label: 'GRPO',
  isTokenwise: false,
  comparesGroups: true,
  needs: [],
  settings: ['norm_adv_by_std_in_grpo'],
  estimate: perResponse((scores, { index }, config) => grpoAdvantages(scores, index, config)),
  formula: groupFormula((std) => std),
})
