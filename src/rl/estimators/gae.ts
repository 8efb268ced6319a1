// Computes GAE's advantages: a critic says token by token what was to be expected. With PPO's loss
// this is PPO.
import { line } from '../math/formula.ts'
import { maskedWhiten } from '../math/masked.ts'
import { type EstimatedToken, numberAt, OVER_BATCH, whitenedValues } from './estimated_token.ts'
import {
  type AdvantageConfig,
  type AdvantageInput,
  type Advantages,
  estimator,
  given,
} from './estimator.ts'

/** GAE (Schulman et al. 2016, arXiv 1506.02438; verl/trainer/ppo/core_algos.py
 * compute_gae_advantage_return), from the end: δ_t = r_t + γ·V_next - V_t, A_t = δ_t + γ·λ·A_next.
 * A token with mask 0 is passed over: it takes A_next for its own, and its reward counts nowhere.
 * returns = A + V; advantages = A, whitened over the tokens with mask 1, and *not* masked again:
 * padding holds what zero is whitened to. Throws RangeError with fewer than two tokens. */
export function gaeAdvantages(
  input: AdvantageInput,
  { gamma = 1, lam = 1 }: AdvantageConfig = {},
): Advantages & { readonly advantages_before_whiten: Float64Array } {
  const { token_level_rewards, response_mask, response_length } = input
  const values = given(input, 'values')
  const before = new Float64Array(response_mask.length)
  let [next_value, next] = [0, 0]
  for (let i = before.length - 1; i >= 0; i--) {
    if ((i + 1) % response_length === 0) [next_value, next] = [0, 0]
    if (response_mask[i] !== 0) {
      const delta = token_level_rewards[i] + gamma * next_value - values[i]
      next = delta + gamma * lam * next
      next_value = values[i]
    }
    before[i] = next
  }
  return {
    advantages: maskedWhiten(before, response_mask),
    returns: before.map((advantage, i) => advantage + values[i]),
    advantages_before_whiten: before,
  }
}

/** The next token that counts; undefined after the last. */
function nextToken({ sample, t }: EstimatedToken): number | undefined {
  const mask = sample.columns.response_mask ?? []
  const next = mask.findIndex((m, i) => i > t && m !== 0)
  return next < 0 ? undefined : next
}

export const gae = estimator({
  name: 'gae',
  label: 'GAE (PPO with a critic)',
  isTokenwise: true,
  comparesGroups: false,
  needs: ['values'],
  settings: ['gamma', 'lam'],
  estimate: gaeAdvantages,
  whitened: ({ returns, values }) => returns.map((value, i) => value - (values?.[i] ?? 0)),
  formula: {
    lines: [
      line('delta', '{reward} + {gamma} · {next_value} − {value}'),
      line('raw_advantage', '{delta} + {gamma} · {lam} · {next_advantage}'),
      line('advantage', '({raw_advantage} − {batch_mean}) / {batch_std}'),
    ],
    symbols: {
      delta: 'δ',
      lam: 'λ',
      value: 'V_t',
      next_value: 'V_t+1',
      raw_advantage: 'Â',
      next_advantage: 'Â_t+1',
    },
    note: OVER_BATCH,
    values: (token) => {
      const { gamma, lam } = token.table.phase.algorithm
      const next = nextToken(token)
      const after = { ...token, t: next ?? -1 }
      const next_value = next === undefined ? 0 : numberAt(after, 'values')
      const next_advantage = next === undefined ? 0 : numberAt(after, 'returns') - next_value
      const [reward, value] = [numberAt(token, 'token_level_rewards'), numberAt(token, 'values')]
      const delta = reward + gamma * next_value - value
      const raw_advantage = delta + gamma * lam * next_advantage
      const known = { reward, gamma, lam, value, next_value, next_advantage }
      return whitenedValues(token, raw_advantage, { ...known, delta, raw_advantage })
    },
  },
})
