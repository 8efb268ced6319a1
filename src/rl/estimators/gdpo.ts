// Computes GDPO's advantages: several rewards, each compared within the group by itself, so that a
// large one does not hide a small one.
import { line } from '../math/formula.ts'
import { maskedWhiten } from '../math/masked.ts'
import { numberAt } from './estimated_token.ts'
import {
  type AdvantageConfig,
  type AdvantageInput,
  type Advantages,
  estimator,
  masked,
  rowScores,
  spread,
} from './estimator.ts'
import { grpoAdvantages } from './grpo.ts'

/** GDPO (arXiv 2601.05242; verl 0.7.1 and later, compute_gdpo_outcome_advantage): v_b = Σ_k w_k ·
 * (GRPO's advantage of reward k), then A = v whitened over the tokens of the batch, 0 where masked;
 * returns = A. Rewards are rounded to float32, as in verl. Without `reward_components` the row sums
 * of token_level_rewards are the only reward. */
function estimate(input: AdvantageInput, config: AdvantageConfig): Advantages {
  const rewards = input.reward_components ?? [{ weight: 1, scores: rowScores(input) }]
  const rows = input.response_mask.length / input.response_length
  const sums = new Float64Array(rows)
  for (const { weight, scores } of rewards) {
    if (scores.length !== rows)
      throw new RangeError(`reward_components: expected ${rows} scores, found ${scores.length}`)
    const own = input.reward_components ? Float64Array.from(scores, Math.fround) : scores
    const advantages = grpoAdvantages(own, input.index, config)
    for (let b = 0; b < rows; b++) sums[b] += weight * advantages[b]
  }
  const { response_mask } = input
  const advantages = masked(maskedWhiten(spread(sums, input), response_mask), response_mask)
  return { advantages, returns: advantages }
}

export const gdpo = estimator({
  name: 'gdpo',
  label: 'GDPO, each reward by itself',
  isTokenwise: false,
  comparesGroups: true,
  needs: [],
  settings: ['norm_adv_by_std_in_grpo'],
  estimate,
  whitened: ({ returns }) => returns,
  formula: {
    lines: [line('advantage', '{whitened_sum}')],
    symbols: { whitened_sum: 'whiten(Σ_k w_k · A_k)' },
    note: 'A_k is GRPO’s advantage for reward k alone, w_k its weight. The sum is brought to mean 0 and standard deviation 1 over all tokens of the batch.',
    values: (token) => {
      const advantage = numberAt(token, 'advantages')
      return { whitened_sum: advantage, advantage }
    },
  },
})
