// Lists the advantage estimators, pure float64 functions of the rewards of a batch.
// `computeAdvantages` is what a trainer calls.
import { rowCount } from '../math/masked.ts'
import type { AdvantageConfig, AdvantageInput, Advantages, Estimator } from './estimator.ts'
import { gae } from './gae.ts'
import { gdpo } from './gdpo.ts'
import { gpg } from './gpg.ts'
import { grpo } from './grpo.ts'
import { grpo_batch_std } from './grpo_batch_std.ts'
import { grpo_passk } from './grpo_passk.ts'
import { grpo_vectorized, grpoVectorized0_8 } from './grpo_vectorized.ts'
import { best_of_n, rejection_sampling } from './imitation.ts'
import { maxrl } from './maxrl.ts'
import { opo } from './opo.ts'
import { reinforce_plus_plus, reinforcePlusPlus0_8 } from './reinforce_plus_plus.ts'
import { reinforce_plus_plus_baseline } from './reinforce_plus_plus_baseline.ts'
import { remax } from './remax.ts'
import { rloo, rloo_vectorized } from './rloo.ts'
import { optimal_token_baseline, tir_optimal_token_baseline } from './token_baseline.ts'

/** Every estimator, in the order of the menu; the first is the default. */
const ESTIMATORS = [
  grpo,
  gae,
  grpo_vectorized,
  grpo_passk,
  reinforce_plus_plus,
  reinforce_plus_plus_baseline,
  remax,
  rloo,
  rloo_vectorized,
  opo,
  gpg,
  optimal_token_baseline,
  tir_optimal_token_baseline,
  gdpo,
  maxrl,
  grpo_batch_std,
  rejection_sampling,
  best_of_n,
  grpoVectorized0_8,
  reinforcePlusPlus0_8,
] as const

/** verl's names, algorithm.adv_estimator. */
export type AdvEstimator = (typeof ESTIMATORS)[number]['name']
export const ESTIMATOR_LIST: readonly Estimator<AdvEstimator>[] = ESTIMATORS
export const ADV_ESTIMATORS: readonly AdvEstimator[] = ESTIMATORS.map(({ name }) => name)

const BY_NAME = new Map<string, Estimator<AdvEstimator>>(
  ESTIMATOR_LIST.map((estimator) => [estimator.name, estimator]),
)

/** The estimator of this name. Throws RangeError for a name that is none. */
export function estimatorOf(advEstimator: AdvEstimator): Estimator<AdvEstimator> {
  const estimator = BY_NAME.get(advEstimator)
  if (!estimator)
    throw new RangeError(
      `adv_estimator: expected one of ${ADV_ESTIMATORS.join(', ')}, found ${advEstimator}`,
    )
  return estimator
}

/** Whether an estimator compares the responses to one prompt with each other. */
export const comparesGroups = (advEstimator: AdvEstimator): boolean =>
  estimatorOf(advEstimator).comparesGroups

/** Whether an estimator asks a critic. */
export const asksCritic = (advEstimator: AdvEstimator): boolean =>
  estimatorOf(advEstimator).needs.includes('values')

function checkLength(name: string, values: ArrayLike<number> | null | undefined, length: number) {
  if (values?.length !== length)
    throw new RangeError(`${name}: expected ${length} numbers, found ${values?.length ?? 'none'}`)
}

/** Advantages and returns [B, R] by verl's estimator of that name. Throws RangeError for an unknown
 * name, for an input that the estimator needs and that is missing or of another size, for whitening
 * fewer than two tokens and for grpo_passk over a group of one. */
export function computeAdvantages(
  advEstimator: AdvEstimator,
  input: AdvantageInput,
  config: AdvantageConfig = {},
): Advantages {
  const { needs, comparesGroups, estimate } = estimatorOf(advEstimator)
  const tokens = input.response_mask.length
  const rows = rowCount(input.response_mask, input.response_length)
  checkLength('token_level_rewards', input.token_level_rewards, tokens)
  if (comparesGroups) checkLength(`adv_estimator ${advEstimator} needs index`, input.index, rows)
  for (const field of needs)
    checkLength(
      `adv_estimator ${advEstimator} needs ${field}`,
      input[field],
      field === 'reward_baselines' ? rows : tokens,
    )
  return estimate(input, config)
}
