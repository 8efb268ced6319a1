// Declares an advantage estimator. Each is declared in one file of this folder; what a step reads
// back for it, the settings that it uses, its formula and its place in forms all follow from that
// declaration (advantages.ts lists them).
import type { Formula } from '../math/formula.ts'
import type { EstimatedToken } from './estimated_token.ts'

/** B responses of R columns, all arrays row-major. Log-probs and values belong to the token of
 * their column. */
export interface AdvantageInput {
  /** [B, R]. The score of a response is the sum of its row, over all columns. */
  readonly token_level_rewards: ArrayLike<number>
  /** [B, R]: 1 = a token of the policy; 0 = padding or, inside a response, a token it did not
   * write. */
  readonly response_mask: ArrayLike<number>
  /** R */
  readonly response_length: number
  /** [B]: the id of each row's group, in any order. */
  readonly index: ArrayLike<number>
  /** [B, R]: the critic's. */
  readonly values?: ArrayLike<number> | null
  /** [B]: the score of one more response to the same prompt, a greedy one. */
  readonly reward_baselines?: ArrayLike<number> | null
  /** [B, R], nats. */
  readonly old_log_probs?: ArrayLike<number> | null
  /** [B, R]: Σ_v π(v)² of the distribution each token came from. */
  readonly sum_pi_squared?: ArrayLike<number> | null
  /** [B, R], where rollout correction made some. */
  readonly rollout_is_weights?: ArrayLike<number> | null
  /** The parts of a composed reward; gdpo. */
  readonly reward_components?: readonly RewardComponent[] | null
}

/** One part of a composed reward: what each row scored in it, [B], and what it counts. */
export interface RewardComponent {
  readonly weight: number
  readonly scores: ArrayLike<number>
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
  /** false; reinforce_plus_plus of verl before 0.9, where nothing flows back over a token that the
   * policy did not write. */
  readonly observationsEndReturns?: boolean
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

/** What only some estimators need of a batch. */
export type EstimatorNeed = 'values' | 'reward_baselines' | 'old_log_probs' | 'sum_pi_squared'

/** What is known of a batch whose advantages were whitened. */
export interface WhitenedBatch {
  /** [B, R] */
  readonly returns: Float64Array
  readonly values: ArrayLike<number> | undefined
  /** Σ of each row's rewards, and its group; [B]. */
  readonly scores: Float64Array
  readonly index: ArrayLike<number>
}

/** An advantage estimator. */
export interface Estimator<Name extends string = string> {
  /** verl's algorithm.adv_estimator. */
  readonly name: Name
  /** What forms call it. */
  readonly label: string
  /** Whether it looks at the reward of every token; the others look at a response's sum. */
  readonly isTokenwise: boolean
  /** Whether it compares the responses to one prompt with each other; only then `index` must be
   * given. */
  readonly comparesGroups: boolean
  readonly needs: readonly EstimatorNeed[]
  /** The settings of `algorithm` that it uses. */
  readonly settings: readonly ('gamma' | 'lam' | 'norm_adv_by_std_in_grpo' | 'norm_adv_epsilon')[]
  /** Advantages and returns; what it needs is given and of the right size. */
  estimate(input: AdvantageInput, config: AdvantageConfig): Advantages
  /** What it divides by a standard deviation over all tokens, [B, R]: such a batch needs two.
   * Absent = it whitens nothing. */
  whitened?(batch: WhitenedBatch): Float64Array
  readonly formula: Formula<EstimatedToken>
}

/** Declares an estimator and infers its name. */
export const estimator = <const Name extends string>(declared: Estimator<Name>): Estimator<Name> =>
  declared

/** An input that was checked before; RangeError where it is missing all the same. */
export function given(input: AdvantageInput, field: EstimatorNeed): ArrayLike<number> {
  const values = input[field]
  if (!values) throw new RangeError(`${field}: expected numbers, found none`)
  return values
}

/** Σ_t r[b, t] over all columns, the masked ones too, as in verl: [B]. */
export function rowScores({
  token_level_rewards,
  response_length,
}: Pick<AdvantageInput, 'token_level_rewards' | 'response_length'>): Float64Array {
  const scores = new Float64Array(token_level_rewards.length / response_length)
  for (let i = 0; i < token_level_rewards.length; i++)
    scores[Math.floor(i / response_length)] += token_level_rewards[i]
  return scores
}

/** 0 where masked. */
export const masked = (x: Float64Array, mask: ArrayLike<number>): Float64Array =>
  x.map((value, i) => (mask[i] !== 0 ? value : 0))

/** [B] → [B, R], 0 where the mask is 0. */
export function spread(
  rows: ArrayLike<number>,
  { response_mask, response_length }: AdvantageInput,
): Float64Array {
  const tokens = new Float64Array(response_mask.length)
  for (let b = 0, i = 0; i < tokens.length; b++)
    for (let end = i + response_length; i < end; i++)
      if (response_mask[i] !== 0) tokens[i] = rows[b]
  return tokens
}

/** One advantage for the whole response: the same number on every token with mask 1; returns =
 * advantages. */
export function perResponse(
  rowAdvantages: (
    scores: Float64Array,
    input: AdvantageInput,
    config: AdvantageConfig,
  ) => Float64Array,
): (input: AdvantageInput, config: AdvantageConfig) => Advantages {
  return (input, config) => {
    const advantages = spread(rowAdvantages(rowScores(input), input, config), input)
    return { advantages, returns: advantages }
  }
}
