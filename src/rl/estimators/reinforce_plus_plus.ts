// REINFORCE++: discounted returns of single responses, whitened over the batch.
import { line } from '../math/formula.ts'
import { maskedWhiten } from '../math/masked.ts'
import { numberAt, OVER_BATCH, whitenedValues } from './estimated_token.ts'
import {
  type AdvantageConfig,
  type AdvantageInput,
  type Advantages,
  estimator,
  masked,
} from './estimator.ts'

/**
 * REINFORCE++ (Hu et al. 2025, arXiv 2501.03262; verl compute_reinforce_plus_plus_outcome_advantage): G_t = r_t + γ·G_next,
 * where G_next is 0 if the token after is masked, so that nothing flows back over an observation; returns = G, not masked;
 * advantages = G whitened, 0 where masked.
 */
function estimate(input: AdvantageInput, { gamma = 1 }: AdvantageConfig): Advantages {
  const { token_level_rewards, response_mask, response_length } = input
  const returns = new Float64Array(response_mask.length)
  for (let i = returns.length - 1; i >= 0; i--) {
    const is_last = (i + 1) % response_length === 0
    const next = is_last || response_mask[i + 1] === 0 ? 0 : returns[i + 1]
    returns[i] = token_level_rewards[i] + gamma * next
  }
  return { advantages: masked(maskedWhiten(returns, response_mask), response_mask), returns }
}

export const reinforce_plus_plus = estimator({
  name: 'reinforce_plus_plus',
  label: 'REINFORCE++',
  is_tokenwise: true,
  compares_groups: false,
  needs: [],
  settings: ['gamma'],
  estimate,
  whitened: ({ returns }) => returns,
  formula: {
    lines: [
      line('return_', '{reward} + {gamma} · {next_return}'),
      line('advantage', '({return_} − {batch_mean}) / {batch_std}'),
    ],
    symbols: { next_return: 'G_t+1' },
    note: OVER_BATCH,
    values: (token) => {
      const { gamma } = token.table.phase.algorithm
      const { response_mask = [], returns = [] } = token.sample.columns
      const is_followed = (response_mask[token.t + 1] ?? 0) !== 0
      const next_return = is_followed ? returns[token.t + 1] : 0
      const reward = numberAt(token, 'token_level_rewards')
      const return_ = reward + gamma * next_return
      return whitenedValues(token, return_, { reward, gamma, next_return, return_ })
    },
  },
})
