// Advantage estimators: pure float64 functions of the rewards of a batch. `computeAdvantages` is what a trainer calls.
import { maskedSumRows, maskedWhiten, rowCount } from '../math/masked.ts'
import {
  centredScores,
  gpgAdvantages,
  grpoAdvantages,
  grpoPasskAdvantages,
  grpoVectorizedAdvantages,
  opoAdvantages,
  rlooAdvantages,
} from './group_advantages.ts'
import { optimalTokenBaseline, returnsToGo, tirOptimalTokenBaseline } from './token_baseline.ts'

/** verl's names, algorithm.adv_estimator. */
export const ADV_ESTIMATORS = [
  'gae',
  'grpo',
  'grpo_vectorized',
  'grpo_passk',
  'reinforce_plus_plus',
  'reinforce_plus_plus_baseline',
  'remax',
  'rloo',
  'rloo_vectorized',
  'opo',
  'gpg',
  'optimal_token_baseline',
  'tir_optimal_token_baseline',
] as const
export type AdvEstimator = (typeof ADV_ESTIMATORS)[number]

/** B responses of R columns, all arrays row-major. Log-probs and values belong to the token of their column. */
export interface AdvantageInput {
  /** [B, R]. The score of a response is the sum of its row, over all columns. */
  readonly token_level_rewards: ArrayLike<number>
  /** [B, R]: 1 = a token of the policy; 0 = padding or, inside a response, a token it did not write. */
  readonly response_mask: ArrayLike<number>
  /** R */
  readonly response_length: number
  /** [B]: the id of each row's group, in any order. */
  readonly index: ArrayLike<number>
  /** [B, R], for gae. */
  readonly values?: ArrayLike<number> | null
  /** [B]: the score of one more response to the same prompt, for remax. */
  readonly reward_baselines?: ArrayLike<number> | null
  /** [B, R], nats, for the token baselines, with sum_pi_squared [B, R] and, if any, rollout_is_weights [B, R]. */
  readonly old_log_probs?: ArrayLike<number> | null
  readonly sum_pi_squared?: ArrayLike<number> | null
  readonly rollout_is_weights?: ArrayLike<number> | null
}

/** verl's algorithm.* and the arguments of its estimators; what is absent has verl's default. */
export interface AdvantageConfig {
  /** 1; gae and reinforce_plus_plus. */
  readonly gamma?: number
  /** 1; gae. */
  readonly lam?: number
  /** true; grpo, grpo_vectorized, grpo_passk. */
  readonly norm_adv_by_std_in_grpo?: boolean
  /** 1e-6; added to the standard deviation where that divides. */
  readonly norm_adv_epsilon?: number
  /** 1e-8; the token baselines. */
  readonly epsilon?: number
  /** 1; gpg. */
  readonly f_norm?: number
  /** false in optimal_token_baseline, true in tir_optimal_token_baseline. */
  readonly handle_zero_tail?: boolean
}

/** [B, R] each. */
export interface Advantages {
  readonly advantages: Float64Array
  readonly returns: Float64Array
}

type Estimator = (input: AdvantageInput, config: AdvantageConfig) => Advantages
type OptionalField = 'values' | 'reward_baselines' | 'old_log_probs' | 'sum_pi_squared'

function checkLength(name: string, values: ArrayLike<number> | null | undefined, length: number) {
  if (values?.length !== length)
    throw new RangeError(`${name}: expected ${length} numbers, found ${values?.length ?? 'none'}`)
}

/** An input that only some estimators need. Throws RangeError if it is missing or of another size. */
function given(adv_estimator: AdvEstimator, input: AdvantageInput, field: OptionalField) {
  const values = input[field]
  const tokens = input.response_mask.length
  const length = field === 'reward_baselines' ? tokens / input.response_length : tokens
  checkLength(`adv_estimator ${adv_estimator} needs ${field}`, values, length)
  return values as ArrayLike<number>
}

/**
 * GAE (Schulman et al. 2016, arXiv 1506.02438; verl/trainer/ppo/core_algos.py compute_gae_advantage_return), from the end:
 * δ_t = r_t + γ·V_next - V_t, A_t = δ_t + γ·λ·A_next. A token with mask 0 is passed over: it takes A_next for its own, and
 * its reward counts nowhere. returns = A + V; advantages = A, whitened over the tokens with mask 1, and *not* masked again:
 * padding holds what zero is whitened to. Throws RangeError without `values`, or with fewer than two tokens.
 */
export function gaeAdvantages(
  input: AdvantageInput,
  { gamma = 1, lam = 1 }: AdvantageConfig = {},
): Advantages & { readonly advantages_before_whiten: Float64Array } {
  const { token_level_rewards, response_mask, response_length } = input
  const values = given('gae', input, 'values')
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

/**
 * REINFORCE++ (Hu et al. 2025, arXiv 2501.03262; verl compute_reinforce_plus_plus_outcome_advantage): G_t = r_t + γ·G_next,
 * where G_next is 0 if the token after is masked, so that nothing flows back over an observation; returns = G, not masked;
 * advantages = G whitened, 0 where masked.
 */
const reinforcePlusPlus: Estimator = (input, { gamma = 1 }) => {
  const { token_level_rewards, response_mask, response_length } = input
  const returns = new Float64Array(response_mask.length)
  for (let i = returns.length - 1; i >= 0; i--) {
    const is_last = (i + 1) % response_length === 0
    const next = is_last || response_mask[i + 1] === 0 ? 0 : returns[i + 1]
    returns[i] = token_level_rewards[i] + gamma * next
  }
  return { advantages: masked(maskedWhiten(returns, response_mask), response_mask), returns }
}

/** The same paper's group variant: scores minus their group's mean on every token, whitened over the batch. */
const reinforcePlusPlusBaseline: Estimator = (input) => {
  const { response_mask } = input
  const centred = spread(centredScores(rowScores(input), input.index), input)
  const advantages = masked(maskedWhiten(centred, response_mask), response_mask)
  return { advantages, returns: advantages }
}

/**
 * ReMax (Li et al. 2023, arXiv 2310.10505; verl compute_remax_outcome_advantage): returns = Σ_{j ≥ t} m_j·r_j, advantages =
 * returns - baseline_b·m. A masked token in front of others keeps its return, as in verl.
 */
const remax: Estimator = (input) => {
  const { token_level_rewards, response_mask, response_length } = input
  const baselines = given('remax', input, 'reward_baselines')
  const returns = returnsToGo(token_level_rewards, response_mask, response_length)
  const baseline = spread(baselines, input)
  return { advantages: returns.map((value, i) => value - baseline[i]), returns }
}

/** One advantage for the whole response: the same number on every token with mask 1; returns = advantages. */
function perResponse(
  rowAdvantages: (
    scores: Float64Array,
    input: AdvantageInput,
    config: AdvantageConfig,
  ) => Float64Array,
): Estimator {
  return (input, config) => {
    const advantages = spread(rowAdvantages(rowScores(input), input, config), input)
    return { advantages, returns: advantages }
  }
}

function tokenBaseline(
  adv_estimator: 'optimal_token_baseline' | 'tir_optimal_token_baseline',
): Estimator {
  const is_tir = adv_estimator === 'tir_optimal_token_baseline'
  return (input, { handle_zero_tail = is_tir, epsilon = 1e-8 }) => {
    const old_log_probs = given(adv_estimator, input, 'old_log_probs')
    const sum_pi_squared = given(adv_estimator, input, 'sum_pi_squared')
    if (input.rollout_is_weights)
      checkLength('rollout_is_weights', input.rollout_is_weights, input.response_mask.length)
    const batch = { ...input, old_log_probs, sum_pi_squared }
    const estimate = is_tir ? tirOptimalTokenBaseline : optimalTokenBaseline
    return estimate(batch, { handle_zero_tail, epsilon })
  }
}

const ESTIMATORS: Readonly<Record<AdvEstimator, Estimator>> = {
  gae: gaeAdvantages,
  grpo: perResponse((scores, { index }, config) => grpoAdvantages(scores, index, config)),
  grpo_vectorized: perResponse((scores, { index }, config) =>
    grpoVectorizedAdvantages(scores, index, config),
  ),
  grpo_passk: perResponse((scores, { index }, config) =>
    grpoPasskAdvantages(scores, index, config),
  ),
  reinforce_plus_plus: reinforcePlusPlus,
  reinforce_plus_plus_baseline: reinforcePlusPlusBaseline,
  remax,
  rloo: perResponse((scores, { index }) => rlooAdvantages(scores, index)),
  rloo_vectorized: perResponse((scores, { index }) =>
    rlooAdvantages(scores, index, { zero_singletons: true }),
  ),
  opo: perResponse((scores, { index, response_mask, response_length }) =>
    opoAdvantages(scores, maskedSumRows(response_mask, response_mask, response_length), index),
  ),
  gpg: perResponse((scores, { index }, config) => gpgAdvantages(scores, index, config)),
  optimal_token_baseline: tokenBaseline('optimal_token_baseline'),
  tir_optimal_token_baseline: tokenBaseline('tir_optimal_token_baseline'),
}

/** Estimators that never look at `index`. */
const WITHOUT_GROUPS: readonly AdvEstimator[] = ['gae', 'reinforce_plus_plus', 'remax']

/** Whether an estimator compares the responses to one prompt with each other. */
export const comparesGroups = (adv_estimator: AdvEstimator): boolean =>
  !WITHOUT_GROUPS.includes(adv_estimator)

/**
 * Advantages and returns [B, R] by verl's estimator of that name. Throws RangeError for an unknown name, for a missing input
 * (gae: values; remax: reward_baselines; token baselines: old_log_probs, sum_pi_squared; all but gae, reinforce_plus_plus and
 * remax: index), for a wrong length, for whitening fewer than two tokens and for grpo_passk over a group of one.
 */
export function computeAdvantages(
  adv_estimator: AdvEstimator,
  input: AdvantageInput,
  config: AdvantageConfig = {},
): Advantages {
  const estimate = ESTIMATORS[adv_estimator]
  if (!estimate)
    throw new RangeError(
      `adv_estimator: expected one of ${ADV_ESTIMATORS.join(', ')}, found ${adv_estimator}`,
    )
  const rows = rowCount(input.response_mask, input.response_length)
  checkLength('token_level_rewards', input.token_level_rewards, input.response_mask.length)
  if (comparesGroups(adv_estimator))
    checkLength(`adv_estimator ${adv_estimator} needs index`, input.index, rows)
  return estimate(input, config)
}

/** Σ_t r[b, t] over all columns, the masked ones too, as in verl: [B]. */
function rowScores({ token_level_rewards, response_length }: AdvantageInput): Float64Array {
  const scores = new Float64Array(token_level_rewards.length / response_length)
  for (let i = 0; i < token_level_rewards.length; i++)
    scores[Math.floor(i / response_length)] += token_level_rewards[i]
  return scores
}

function masked(x: Float64Array, mask: ArrayLike<number>): Float64Array {
  return x.map((value, i) => (mask[i] !== 0 ? value : 0))
}

/** [B] → [B, R], 0 where the mask is 0. */
function spread(
  rows: ArrayLike<number>,
  { response_mask, response_length }: AdvantageInput,
): Float64Array {
  const tokens = new Float64Array(response_mask.length)
  for (let b = 0, i = 0; i < tokens.length; b++)
    for (let end = i + response_length; i < end; i++)
      if (response_mask[i] !== 0) tokens[i] = rows[b]
  return tokens
}

/** Share of groups whose scores differ: only these move a group-relative policy. */
export function informativeShare(scores: ArrayLike<number>, group_size: number): number {
  const groups = scores.length / group_size
  let informative = 0
  for (let g = 0; g < groups; g++) {
    const first = scores[g * group_size]
    for (let i = 1; i < group_size; i++)
      if (scores[g * group_size + i] !== first) {
        informative++
        break
      }
  }
  return informative / groups
}
