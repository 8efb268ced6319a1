// Runs golden cases of the advantage estimators.
import { type AdvEstimator, computeAdvantages } from '../src/rl/estimators/advantages.ts'
import {
  type AdvantageConfig,
  type AdvantageInput,
  rowScores,
  spread,
} from '../src/rl/estimators/estimator.ts'
import { gaeAdvantages } from '../src/rl/estimators/gae.ts'
import { maxrlAdvantages } from '../src/rl/estimators/maxrl.ts'
import type { Fields } from './base/fields.ts'
import { type Fixture, type Handler, isJanuary } from './base/fixture.ts'
import type { Tolerance } from './base/report.ts'
import {
  F64,
  GDPO,
  GRPO,
  GRPO_VECTORIZED,
  MAXRL,
  PRODUCTION,
  ROUNDED,
  within,
} from './base/tolerances.ts'

function readInput(inputs: Fields): AdvantageInput {
  const mask = inputs.matrix('response_mask')
  const { rows } = mask
  const optional = (name: string) => {
    const matrix = inputs.optionalMatrix(name, mask)
    return matrix ? { [name]: matrix.data } : {}
  }
  return {
    response_mask: mask.data,
    response_length: mask.columns,
    token_level_rewards: inputs.matrix('token_level_rewards', mask).data,
    // Estimators that look at each row alone are given no groups.
    index: inputs.has('index')
      ? inputs.vector('index', rows)
      : Float64Array.from({ length: rows }, (_, b) => b),
    ...(inputs.has('reward_baselines')
      ? { reward_baselines: inputs.vector('reward_baselines', rows) }
      : {}),
    ...optional('values'),
    ...optional('old_log_probs'),
    ...optional('sum_pi_squared'),
    ...optional('rollout_is_weights'),
  }
}

/** What the config says and nothing else, so that the defaults are those of the functions. */
function readConfig(config: Fields): AdvantageConfig {
  const number = (name: string, ours = name) =>
    config.has(name) ? { [ours]: config.number(name) } : {}
  const flag = (name: string) => (config.has(name) ? { [name]: config.flag(name) } : {})
  return {
    ...number('gamma'),
    ...number('lam'),
    ...number('epsilon'),
    ...number('epsilon', 'norm_adv_epsilon'),
    ...number('f_norm'),
    ...flag('norm_adv_by_std_in_grpo'),
    ...flag('handle_zero_tail'),
  }
}

/** `wanted`: verl returns the same tensor twice for most estimators, and the fixture may hold it
 * once. */
function estimator(
  name: AdvEstimator,
  wanted: readonly ('advantages' | 'returns')[],
  tolerance: Tolerance = F64,
): Handler {
  return ({ inputs, config }) => {
    const input = readInput(inputs)
    const settings = readConfig(config)
    const run = () => {
      const computed = computeAdvantages(name, input, settings)
      return within(tolerance, Object.fromEntries(wanted.map((key) => [key, computed[key]])))
    }
    return [{ on: 'driver', run }]
  }
}

const BOTH = ['advantages', 'returns'] as const
const ONE = ['advantages'] as const

const gae: Handler = ({ inputs, config }) => {
  const input = readInput(inputs)
  const settings = readConfig(config)
  return [{ on: 'driver', run: () => within(F64, { ...gaeAdvantages(input, settings) }) }]
}

/** Two estimators that differ for groups of one. */
const rloo: Handler = ({ inputs, config }) => {
  const input = readInput(inputs)
  const settings = readConfig(config)
  const run = () =>
    within(F64, {
      advantages: computeAdvantages('rloo', input, settings).advantages,
      advantages_vectorized: computeAdvantages('rloo_vectorized', input, settings).advantages,
    })
  return [{ on: 'driver', run }]
}

const optimal_token_baseline: Handler = ({ inputs, config }) => {
  const input = readInput(inputs)
  const settings = readConfig(config)
  const run = () => {
    const plain = computeAdvantages('optimal_token_baseline', input, settings)
    const tir = computeAdvantages('tir_optimal_token_baseline', input, settings)
    return within(F64, {
      advantages_optimal_token_baseline: plain.advantages,
      advantages_tir_optimal_token_baseline: tir.advantages,
      returns: plain.returns,
    })
  }
  return [{ on: 'driver', run }]
}

/** Returns used to end at a token that the policy did not write. */
const reinforce_plus_plus: Handler = (fixture) => {
  const name = isJanuary(fixture) ? 'reinforce_plus_plus_0.8' : 'reinforce_plus_plus'
  return estimator(name, BOTH)(fixture)
}

/** The variance used to have a floor. */
const grpo_vectorized: Handler = (fixture) => {
  const name = isJanuary(fixture) ? 'grpo_vectorized' : 'grpo_vectorized_0.8'
  return estimator(name, ONE, GRPO_VECTORIZED)(fixture)
}

const gdpo: Handler = ({ inputs, config }) => {
  // With keys verl puts each reward on the last real token; only its sum over the row is looked at.
  inputs.ignore('attention_mask', 'prompt_width')
  const input = readInput(inputs)
  const settings = readConfig(config)
  const keys = config.has('gdpo_reward_keys') ? config.texts('gdpo_reward_keys') : []
  const weights = config.has('gdpo_reward_weights')
    ? config.vector('gdpo_reward_weights', keys.length)
    : keys.map(() => 1)
  config.ignore('gdpo_reward_weights')
  const columns = keys.length > 0 ? inputs.fields('reward_components') : undefined
  const rows = input.response_mask.length / input.response_length
  const components = keys.map((key, i) => ({
    weight: weights[i],
    scores: columns?.vector(key, rows) ?? [],
  }))
  const reward_components = components.length > 0 ? components : null
  const run = () => {
    const { advantages } = computeAdvantages('gdpo', { ...input, reward_components }, settings)
    return within(GDPO, { advantages })
  }
  return [{ on: 'driver', run }]
}

/** The paper's own code, SkyRL's and prime-rl's, which is the lab's. */
const maxrl: Handler = ({ inputs, config }) => {
  const input = readInput(inputs)
  const epsilon = config.number('epsilon', 1e-6)
  const run = () => {
    const by = (guards: 'authors' | 'skyrl') =>
      spread(maxrlAdvantages(rowScores(input), input.index, { guards, epsilon }), input)
    return within(MAXRL, {
      advantages_authors: by('authors'),
      advantages_skyrl: by('skyrl'),
      advantages_prime_rl_per_row: maxrlAdvantages(rowScores(input), input.index),
    })
  }
  return [{ on: 'driver', run }]
}

/** `gae` and `grpo` of production_float32. */
export const PRODUCTION_ADVANTAGES = {
  gae: estimator('gae', BOTH, PRODUCTION),
  grpo: estimator('grpo', ONE, PRODUCTION),
} as const satisfies Record<string, (fixture: Fixture) => unknown>

export const ADVANTAGE_CASES: Readonly<Record<string, Handler>> = {
  gae,
  gdpo,
  gpg_advantage: estimator('gpg', ONE, ROUNDED),
  grpo: estimator('grpo', BOTH, GRPO),
  grpo_passk: estimator('grpo_passk', ONE),
  grpo_vectorized,
  maxrl,
  opo: estimator('opo', ONE),
  optimal_token_baseline,
  reinforce_plus_plus,
  reinforce_plus_plus_baseline: estimator('reinforce_plus_plus_baseline', ONE),
  remax: estimator('remax', BOTH),
  rloo,
}
