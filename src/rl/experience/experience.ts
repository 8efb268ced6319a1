// Turns scored responses into advantages: what verl's driver does between rollout and update, in
// float64.

import { asksTeacher } from '../config/algorithm.ts'
import type { RlPhase } from '../config/phase.ts'
import type { RolloutCorrection } from '../config/rollout_correction.ts'
import { asksCritic, computeAdvantages, estimatorOf } from '../estimators/advantages.ts'
import type { RewardComponent } from '../estimators/estimator.ts'
import { maskedSum } from '../math/masked.ts'
import { applyKlPenalty, type KlController } from './kl.ts'
import { offpolicyMetrics, rolloutIsWeights, rolloutRejectionMask } from './rollout_correction.ts'
import { probabilityMetrics } from './rollout_correction_metrics.ts'

type Numbers = ArrayLike<number>

/** Per-token arrays of a batch that only some phases need on the driver. */
const DRIVER_COLUMNS = [
  'old_log_probs',
  'ref_log_prob',
  'values',
  'sum_pi_squared',
  'rollout_log_probs',
  'teacher_log_probs',
] as const
export type DriverColumn = (typeof DRIVER_COLUMNS)[number]

/** One batch of B responses of R columns; arrays are [B, R] unless said otherwise. */
export interface ScoredBatch extends Partial<Record<DriverColumn, Numbers>> {
  /** R */
  readonly response_length: number
  readonly response_mask: Numbers
  /** The score of a response at its last token. */
  readonly token_level_scores: Numbers
  /** Group of each row, [B]. */
  readonly index: Numbers
  /** Score of one greedy response to each row's prompt, [B]; remax. */
  readonly reward_baselines?: Numbers
  /** The parts of a composed reward; gdpo. */
  readonly reward_components?: readonly RewardComponent[]
  /** Of each row, [B]; absent = all did. */
  readonly is_ended?: readonly boolean[]
}

/** What the updates train on. */
export interface Experience {
  readonly advantages: Float64Array
  readonly returns: Float64Array
  readonly token_level_rewards: Float64Array
  /** Without what rejection took out, and truncated responses that are left out; undefined =
   * unchanged. */
  readonly response_mask?: Float64Array
  readonly rollout_is_weights?: Float64Array
  readonly metrics: Record<string, number>
}

type DriverPhase = Pick<RlPhase, 'adv_estimator' | 'algorithm'> & {
  readonly rollout?: Pick<RlPhase['rollout'], 'calculate_log_probs' | 'staleness'>
}

/** Whether the driver compares responses with the policy that sampled them. In bypass mode the
 * update does. */
const comparesRollout = ({ algorithm: { rollout_correction: c }, rollout }: DriverPhase): boolean =>
  !c.bypass_mode &&
  (c.rollout_is !== null ||
    c.rollout_rs !== null ||
    rollout?.calculate_log_probs === true ||
    (rollout?.staleness ?? 0) > 0)

/** Whether a phase has a critic; verl builds one for gae. */
export const needsCritic = ({ adv_estimator }: Pick<RlPhase, 'adv_estimator'>): boolean =>
  asksCritic(adv_estimator)

/** Whether a phase measures KL to a frozen reference policy. */
export const needsReference = ({
  actor,
  algorithm,
}: {
  readonly actor: Pick<RlPhase['actor'], 'use_kl_loss'>
  readonly algorithm: Pick<RlPhase['algorithm'], 'use_kl_in_reward'>
}): boolean => actor.use_kl_loss || algorithm.use_kl_in_reward

/** Whether advantages are computed from Σπ² of the old policy. */
export const needsPiSquared = ({ adv_estimator }: Pick<RlPhase, 'adv_estimator'>): boolean =>
  estimatorOf(adv_estimator).needs.includes('sum_pi_squared')

/** What the driver must read back from the GPU before the update: nothing for plain GRPO. */
export function driverColumns(phase: DriverPhase): DriverColumn[] {
  const { adv_estimator, algorithm } = phase
  const { use_kl_in_reward, rollout_correction } = algorithm
  const { needs: ofEstimator } = estimatorOf(adv_estimator)
  const isCorrected = comparesRollout(phase)
  const needs: Record<DriverColumn, boolean> = {
    old_log_probs:
      use_kl_in_reward ||
      ofEstimator.includes('old_log_probs') ||
      isCorrected ||
      asksTeacher(phase),
    ref_log_prob: use_kl_in_reward,
    values: ofEstimator.includes('values'),
    sum_pi_squared: ofEstimator.includes('sum_pi_squared'),
    rollout_log_probs: isCorrected || rollout_correction.bypass_mode,
    teacher_log_probs: asksTeacher(phase),
  }
  return DRIVER_COLUMNS.filter((name) => needs[name])
}

function column(batch: ScoredBatch, name: DriverColumn): Numbers {
  const values = batch[name]
  if (!values) throw new RangeError(`experience: ${name} is needed and missing`)
  return values
}

/** In-reward KL, rollout correction (decoupled), advantages: in this order, as
 * verl/trainer/ppo/ray_trainer.py fit. The KL controller is updated. Throws RangeError where an
 * input that the phase needs is missing. */
export function makeExperience(
  phase: DriverPhase,
  batch: ScoredBatch,
  controller: KlController,
): Experience {
  const { adv_estimator, algorithm } = phase
  const { token_level_scores, response_length } = batch
  const metrics: Record<string, number> = {}
  let token_level_rewards: Float64Array = Float64Array.from(token_level_scores)
  if (algorithm.use_kl_in_reward) {
    const kl = applyKlPenalty(
      {
        token_level_scores,
        old_log_probs: column(batch, 'old_log_probs'),
        ref_log_prob: column(batch, 'ref_log_prob'),
        response_mask: batch.response_mask,
        response_length,
      },
      algorithm.kl_penalty,
      controller,
      algorithm.kl_at_last_token,
    )
    token_level_rewards = kl.token_level_rewards
    metrics['actor/reward_kl_penalty'] = kl.current_kl
    metrics['actor/reward_kl_penalty_coeff'] = kl.coeff
  }
  const corrected = comparesRollout(phase)
    ? correct(algorithm.rollout_correction, batch, metrics)
    : undefined
  const response_mask = corrected?.response_mask ?? batch.response_mask
  const left = maskedSum(response_mask, response_mask)
  // A standard deviation needs two tokens.
  if (left < (estimatorOf(adv_estimator).whitened ? 2 : 1))
    return { ...nothingLeft(response_mask.length), token_level_rewards, metrics }
  const { advantages: estimated, returns } = computeAdvantages(
    adv_estimator,
    {
      ...batch,
      token_level_rewards,
      response_mask,
      ...(corrected?.rollout_is_weights && { rollout_is_weights: corrected.rollout_is_weights }),
    },
    algorithm,
  )
  const mask = algorithm.mask_truncated_completions
    ? { response_mask: endedMask(response_mask, batch) }
    : {}
  const advantages = asksTeacher(phase)
    ? taughtAdvantages(estimated, response_mask, batch, algorithm, metrics)
    : estimated
  return { advantages, returns, token_level_rewards, ...corrected, ...mask, metrics }
}

/** Takes opd_kl_coef · (log π - log teacher) of each sampled token from its advantage, or from 0
 * where the rewards do not count: on-policy distillation as slime and verl's k1 have it. Returns,
 * which may be the same array, stay those of the rewards. */
function taughtAdvantages(
  advantages: Float64Array,
  response_mask: Numbers,
  batch: ScoredBatch,
  { opd_kl_coef, use_task_rewards }: RlPhase['algorithm'],
  metrics: Record<string, number>,
): Float64Array {
  const own = column(batch, 'old_log_probs')
  const teacher = column(batch, 'teacher_log_probs')
  let sum = 0
  const taught = advantages.map((advantage, i) => {
    const kl = response_mask[i] === 0 ? 0 : own[i] - teacher[i]
    sum += kl
    return (use_task_rewards ? advantage : 0) - opd_kl_coef * kl
  })
  metrics['distillation/reverse_kl'] = sum / maskedSum(response_mask, response_mask)
  return taught
}

/** The mask without rows that did not end. */
const endedMask = (
  response_mask: Numbers,
  { is_ended, response_length }: Pick<ScoredBatch, 'is_ended' | 'response_length'>,
): Float64Array =>
  Float64Array.from(response_mask, (m, i) =>
    is_ended?.[Math.floor(i / response_length)] === false ? 0 : m,
  )

/** Too little to learn from, after rejection or from the start: the batch trains nothing. verl ends
 * with a ValueError. */
const nothingLeft = (tokens: number) => ({
  advantages: new Float64Array(tokens),
  returns: new Float64Array(tokens),
  response_mask: new Float64Array(tokens),
})

/** Weights and mask of decoupled rollout correction, as far as they are on; adds `rollout_corr/*`,
 * `training/rollout_*`. */
function correct(
  config: RolloutCorrection,
  batch: ScoredBatch,
  metrics: Record<string, number>,
): Pick<Experience, 'response_mask' | 'rollout_is_weights'> {
  const { response_mask, response_length } = batch
  const pair = {
    old_log_prob: column(batch, 'old_log_probs'),
    rollout_log_prob: column(batch, 'rollout_log_probs'),
    response_mask,
    response_length,
  }
  const add = (found: Record<string, number>) => {
    for (const [name, value] of Object.entries(found)) metrics[`rollout_corr/${name}`] = value
  }
  add(offpolicyMetrics(pair))
  Object.assign(metrics, probabilityMetrics(pair))
  const weights = rolloutIsWeights(pair, config)
  const rejected = rolloutRejectionMask(pair, config)
  add(weights.metrics)
  add(rejected.metrics)
  return {
    ...(config.rollout_rs !== null && { response_mask: rejected.response_mask }),
    ...(weights.rollout_is_weights && { rollout_is_weights: weights.rollout_is_weights }),
  }
}
