// Computes ReMax's advantages: the return of a token against the score of a greedy response to the
// same prompt.
import { line } from '../math/formula.ts'
import { numberAt } from './estimated_token.ts'
import { type AdvantageInput, type Advantages, estimator, given, spread } from './estimator.ts'
import { returnsToGo } from './token_baseline.ts'

/** ReMax (Li et al. 2023, arXiv 2310.10505; verl compute_remax_outcome_advantage): returns = Σ_{j ≥
 * t} m_j·r_j, advantages = returns - baseline_b·m. A masked token in front of others keeps its
 * return, as in verl. */
function estimate(input: AdvantageInput): Advantages {
  const { token_level_rewards, response_mask, response_length } = input
  const baselines = given(input, 'reward_baselines')
  const returns = returnsToGo(token_level_rewards, response_mask, response_length)
  const baseline = spread(baselines, input)
  return { advantages: returns.map((value, i) => value - baseline[i]), returns }
}

export const remax = estimator({
  name: 'remax',
  label: 'ReMax',
  isTokenwise: true,
  comparesGroups: false,
  needs: ['reward_baselines'],
  settings: [],
  estimate,
  formula: {
    lines: [line('advantage', '{return_} − {baseline}')],
    note: 'The baseline is the score of a greedy response to the same prompt.',
    values: (token) => {
      const return_ = numberAt(token, 'returns')
      const baseline = token.sample.reward_baseline ?? Number.NaN
      return { return_, baseline, advantage: return_ - baseline }
    },
  },
})
