// Computes OPO's advantages: the score of a response against a mean of its group that is weighted
// by length.
import { line } from '../math/formula.ts'
import { maskedSumRows } from '../math/masked.ts'
import { estimator, perResponse } from './estimator.ts'
import { byGroup, isFlat, type Scores, sumOf } from './groups.ts'

/** OPO: a_b = s_b - Σ_g n_i·s_i / Σ_g n_i, a baseline weighted by response tokens n_i (Hao et al.
 * 2025, arXiv 2505.23585; verl compute_opo_outcome_advantage). A group of one has baseline 0.
 * `responseLengths` [B]; in a group without a single token, where verl divides 0 by 0, the
 * baseline is 0. */
export function opoAdvantages(
  scores: Scores,
  responseLengths: ArrayLike<number>,
  index: ArrayLike<number>,
): Float64Array {
  return byGroup(index, (rows) => {
    const tokens = sumOf(rows, (b) => responseLengths[b])
    let baseline = 0
    if (rows.length > 1 && tokens > 0)
      baseline = isFlat(scores, rows)
        ? scores[rows[0]]
        : sumOf(rows, (b) => responseLengths[b] * scores[b]) / tokens
    return (b) => scores[b] - baseline
  })
}

export const opo = estimator({
  name: 'opo',
  label: 'OPO',
  isTokenwise: false,
  comparesGroups: true,
  needs: [],
  settings: [],
  estimate: perResponse((scores, { index, response_mask, response_length }) =>
    opoAdvantages(scores, maskedSumRows(response_mask, response_mask, response_length), index),
  ),
  formula: {
    lines: [line('advantage', '{score} − {baseline}')],
    note: 'The baseline is the mean score of the responses to the same prompt, weighted by their lengths.',
    values: ({ sample }) => {
      const { rewards, lengths, place } = sample.group
      const tokens = lengths.reduce((a, b) => a + b, 0)
      const weighted = rewards.reduce((sum, reward, i) => sum + reward * lengths[i], 0)
      const baseline = rewards.length > 1 && tokens > 0 ? weighted / tokens : 0
      return { score: rewards[place], baseline, advantage: rewards[place] - baseline }
    },
  },
})
