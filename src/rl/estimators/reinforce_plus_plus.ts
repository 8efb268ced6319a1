// Computes REINFORCE++'s advantages: discounted returns of single responses, whitened over the
// batch.
import { line } from '../math/formula.ts'
import { maskedWhiten } from '../math/masked.ts'
import { type EstimatedToken, numberAt, OVER_BATCH, whitenedValues } from './estimated_token.ts'
import {
  type AdvantageConfig,
  type AdvantageInput,
  type Advantages,
  estimator,
  masked,
  type WhitenedBatch,
} from './estimator.ts'

/** REINFORCE++ (Hu et al. 2025, arXiv 2501.03262; verl
 * compute_reinforce_plus_plus_outcome_advantage): G_t = r_t + γ·G_next. A token with mask 0 is
 * passed over: its G is 0, the token before it continues with the next written one's, and a reward
 * on it counts nowhere. Before verl 0.9 (`observationsEndReturns`) G_next was 0 before such a
 * token, and returns were not masked. advantages = G whitened, 0 where masked. */
function estimate(
  { token_level_rewards, response_mask, response_length }: AdvantageInput,
  { gamma = 1, observationsEndReturns = false }: AdvantageConfig,
): Advantages {
  const returns = new Float64Array(response_mask.length)
  let next = 0
  for (let i = returns.length - 1; i >= 0; i--) {
    if ((i + 1) % response_length === 0) next = 0
    const isWritten = response_mask[i] !== 0
    const return_ = token_level_rewards[i] + gamma * next
    if (isWritten || observationsEndReturns) returns[i] = return_
    if (isWritten) next = return_
    else if (observationsEndReturns) next = 0
  }
  return { advantages: masked(maskedWhiten(returns, response_mask), response_mask), returns }
}

const SHARED = {
  isTokenwise: true,
  comparesGroups: false,
  needs: [],
  settings: ['gamma'],
  whitened: ({ returns }: WhitenedBatch) => returns,
  formula: {
    lines: [
      line('return_', '{reward} + {gamma} · {next_return}'),
      line('advantage', '({return_} − {batch_mean}) / {batch_std}'),
    ],
    symbols: { next_return: 'G_t+1' },
    note: OVER_BATCH,
    values: (token: EstimatedToken) => {
      const { gamma } = token.table.phase.algorithm
      const { response_mask = [], returns = [] } = token.sample.columns
      const next = response_mask.findIndex((mask, t) => t > token.t && mask !== 0)
      const next_return = next < 0 ? 0 : returns[next]
      const reward = numberAt(token, 'token_level_rewards')
      const return_ = reward + gamma * next_return
      return whitenedValues(token, return_, { reward, gamma, next_return, return_ })
    },
  },
} as const

export const reinforce_plus_plus = estimator({
  name: 'reinforce_plus_plus',
  label: 'REINFORCE++',
  ...SHARED,
  estimate,
})

export const reinforcePlusPlus0_8 = estimator({
  name: 'reinforce_plus_plus_0.8',
  label: 'REINFORCE++ (verl up to 0.8)',
  ...SHARED,
  estimate: (input, config) => estimate(input, { ...config, observationsEndReturns: true }),
})
