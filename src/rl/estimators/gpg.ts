// Computes GPG's advantages: centred scores, scaled up for the responses that score nothing.
import { line } from '../math/formula.ts'
import { groupValues } from './estimated_token.ts'
import { estimator, perResponse } from './estimator.ts'
import { centredScores, type Scores } from './groups.ts'

/** GPG: a_b = α·(s_b - mean_g)/f_norm with α = B / (number of non-zero scores of the batch, at
 * least 1), in float32 as torch divides integers (Chu et al. 2025, arXiv 2504.02546; verl
 * compute_gpg_outcome_advantage). A group of one has mean 0. */
export function gpgAdvantages(
  scores: Scores,
  index: ArrayLike<number>,
  { f_norm = 1 }: { f_norm?: number } = {},
): Float64Array {
  let nonzero = 0
  for (let b = 0; b < scores.length; b++) if (scores[b] !== 0) nonzero++
  const alpha = Math.fround(scores.length / Math.max(nonzero, 1))
  return centredScores(scores, index).map((centred) => (alpha * centred) / f_norm)
}

export const gpg = estimator({
  name: 'gpg',
  label: 'GPG',
  isTokenwise: false,
  comparesGroups: true,
  needs: [],
  settings: [],
  estimate: perResponse((scores, { index }, config) => gpgAdvantages(scores, index, config)),
  formula: {
    lines: [line('advantage', '{alpha} · ({score} − {group_mean})')],
    symbols: { alpha: 'α' },
    note: 'α is the batch’s responses over those with another reward than 0.',
    values: (token) => {
      const { rows, nonzero_rewards } = token.table
      const { score, group_mean } = groupValues(token)
      const alpha = Math.fround(rows / Math.max(1, nonzero_rewards))
      return { alpha, score, group_mean, advantage: alpha * (score - group_mean) }
    },
  },
})
