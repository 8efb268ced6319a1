// Records the objective of an rl phase: which kernels turn log-probs into gradients, and with which
// numbers.

import type { LiveValues, Recorder } from '../../kernels/device/base/program.ts'
import type { Tensor } from '../../kernels/device/base/tensor.ts'
import { kl_loss } from '../../kernels/kl/kl.ts'
import { type KlPenalty, klKind } from '../../kernels/kl/kl_penalty.ts'
import {
  LOSS_AGG_MODES,
  type LossAggMode,
} from '../../kernels/policy_loss/aggregations/aggregations.ts'
import { entropy_loss } from '../../kernels/policy_loss/entropy_loss.ts'
import { high_entropy } from '../../kernels/policy_loss/high_entropy.ts'
import { loss_weights } from '../../kernels/policy_loss/loss_weights.ts'
import { sequence_gradient, sequence_ratio } from '../../kernels/policy_loss/sequence_level.ts'
import { rollout_correction } from '../../kernels/rollout_correction/rollout_correction.ts'
import type { ResponseTensors } from '../../model/transformer/response_tensors.ts'
import type { Actor } from '../config/actor.ts'
import { lossInForce } from '../config/algorithm.ts'
import type { RlPhase } from '../config/phase.ts'
import type { RolloutCorrection } from '../config/rollout_correction.ts'
import { correctionParams } from '../experience/rollout_correction.ts'
import {
  KERNEL_NUMBERS,
  kernelNumbers,
  type LossMode,
  numbersOf,
  pgAggMode,
  policyLossOf,
} from '../losses/losses.ts'
import { LOSS_KERNELS } from './loss_kernels.ts'

/** What decides which kernels run; everything else about an objective is a live number. */
export interface Objective {
  readonly loss_mode: LossMode
  readonly loss_agg_mode: LossAggMode
  /** Whether the ratio is that of the whole response. */
  readonly hasSequenceRatio?: boolean
  /** Whether tokens of low entropy are left out. */
  readonly keepsHighEntropy?: boolean
  /** Estimator of the KL term of the loss; null = none. */
  readonly kl_loss_type: KlPenalty | null
  /** Correction by the policy being updated (verl's bypass mode); null = none. */
  readonly bypass: RolloutCorrection | null
  /** The entropy bonus is of another policy, and added after the objective (recordFinalEntropy). */
  readonly leavesEntropy?: boolean
  /** What the policy loss counts. Default 1. */
  readonly weight?: number
}

/** In bypass mode the rollout's log-probs stand for the old policy's, and `loss_type` decides
 * instead of `loss_mode`. */
export function objectiveOf({ actor, algorithm }: Pick<RlPhase, 'actor' | 'algorithm'>): Objective {
  const { rollout_correction: correction } = algorithm
  const loss_mode = lossInForce({ actor, algorithm })
  const isSequence = actor.importance_sampling_level === 'sequence'
  return {
    loss_mode,
    loss_agg_mode: actor.loss_agg_mode,
    ...(isSequence && policyLossOf(loss_mode).hasLevel && { hasSequenceRatio: true }),
    ...(actor.top_entropy_quantile < 1 && { keepsHighEntropy: true }),
    kl_loss_type: actor.use_kl_loss ? actor.kl_loss_type : null,
    bypass: correction.bypass_mode ? correction : null,
  }
}

export const OBJECTIVE_LIVE = [
  'token_count',
  'sequence_count',
  'loss_scale_factor',
  'scale',
  'ranks',
  'sequence_scale',
  'select_count',
  'seed',
  'entropy_quantile',
  'entropy_coeff',
  'kl_loss_coef',
  ...KERNEL_NUMBERS,
] as const
export type ObjectiveLive = (typeof OBJECTIVE_LIVE)[number]

/** The tensors of one micro-batch that an objective reads and writes, all [rows, R]. */
export type ObjectiveTensors = Pick<
  ResponseTensors,
  | 'response_mask'
  | 'log_probs'
  | 'old_log_probs'
  | 'ref_log_prob'
  | 'advantages'
  | 'entropy'
  | 'rollout_is_weights'
  | 'modified_mask'
  | 'token_weights'
  | 'loss_weights'
  | 'pg_weights'
  | 'entropy_weights'
  | 'kld'
  | 'd_log_probs'
  | 'd_entropy'
>

/** Policy loss - entropy_coeff · entropy + kl_loss_coef · KL, each with its aggregation: fills
 * d_log_probs and d_entropy and adds to `sums` (POLICY_LOSS_SUMS) and, in bypass mode,
 * `correction_sums`. What bypass mode rejects is 0 in the means of ppo_kl and the clip fractions
 * too, unless each call divides by its own tokens. Source: verl/workers/actor/dp_actor.py
 * update_policy, verl/trainer/ppo/core_algos.py. */
export function recordObjective(
  { run, clear }: Pick<Recorder<ObjectiveLive>, 'run' | 'clear'>,
  objective: Objective,
  t: ObjectiveTensors,
  { sums, correction_sums }: { sums: Tensor; correction_sums: Tensor },
): void {
  const { loss_mode, kl_loss_type, bypass } = objective
  const [rows, response_length] = t.response_mask.shape
  const tokens = rows * response_length
  const { log_probs, old_log_probs, d_log_probs, rollout_is_weights } = t
  if (bypass)
    run(
      rollout_correction,
      { rows, response_length, ...correctionParams(bypass) },
      {
        log_probs,
        rollout_log_probs: old_log_probs,
        response_mask: t.response_mask,
        modified_mask: t.modified_mask,
        rollout_is_weights,
        sums: correction_sums,
      },
    )
  const policyMask = bypass ? t.modified_mask : t.response_mask
  runLossWeights({ run }, objective, t, policyMask)
  if (objective.keepsHighEntropy)
    run(
      high_entropy,
      { tokens, quantile: (live) => live.entropy_quantile },
      {
        entropy: t.entropy,
        token_weights: t.token_weights,
        loss_weights: t.loss_weights,
        pg_weights: t.pg_weights,
        entropy_weights: t.entropy_weights,
      },
    )
  const sequences = { rows, response_length }
  const masked = { response_mask: policyMask }
  if (objective.hasSequenceRatio)
    run(sequence_ratio, sequences, { ...masked, log_probs, old_log_probs })
  runPolicyLoss({ run }, objective, 'loss', t, sums)
  if (objective.hasSequenceRatio && policyLossOf(loss_mode).hasLevel === 'through_ratio')
    run(sequence_gradient, sequences, { ...masked, d_log_probs })
  // What bypass mode rejects is left out of the policy loss only: verl's entropy and KL terms see
  // the whole response.
  if (bypass) runLossWeights({ run }, objective, t, t.response_mask)
  if (objective.leavesEntropy) clear(t.d_entropy)
  else
    run(
      entropy_loss,
      { tokens, entropy_coeff: (live) => live.entropy_coeff },
      {
        entropy: t.entropy,
        loss_weights: objective.keepsHighEntropy ? t.entropy_weights : t.loss_weights,
        d_entropy: t.d_entropy,
        sums,
      },
    )
  if (kl_loss_type)
    run(
      kl_loss,
      { tokens, ...klKind(kl_loss_type), kl_loss_coef: (live) => live.kl_loss_coef },
      {
        log_probs,
        ref_log_prob: t.ref_log_prob,
        loss_weights: t.loss_weights,
        kld: t.kld,
        d_log_probs,
        sums,
      },
    )
}

/** What every token under a mask counts: in the metrics, in the loss and in the policy's part of
 * it. */
function runLossWeights(
  { run }: Pick<Recorder<ObjectiveLive>, 'run'>,
  { loss_mode, loss_agg_mode, weight = 1 }: Objective,
  t: ObjectiveTensors,
  response_mask: Tensor,
): void {
  const [rows, response_length] = t.response_mask.shape
  const { token_weights, loss_weights: weights, pg_weights } = t
  // 1 at every token that counts, for a loss that has the weights in its own rule.
  const rollout_is_weights = policyLossOf(loss_mode).holdsWeights
    ? response_mask
    : t.rollout_is_weights
  run(
    loss_weights,
    {
      rows,
      response_length,
      loss_agg_mode: LOSS_AGG_MODES.indexOf(loss_agg_mode),
      pg_agg_mode: LOSS_AGG_MODES.indexOf(pgAggMode(loss_mode, loss_agg_mode)),
      token_count: (live) => live.token_count,
      sequence_count: (live) => live.sequence_count,
      loss_scale_factor: (live) => live.loss_scale_factor,
      scale: (live) => weight * live.scale,
      ranks: (live) => live.ranks,
    },
    { response_mask, rollout_is_weights, token_weights, loss_weights: weights, pg_weights },
  )
}

/** The numbers that a loss's kernel reads beside those of every loss. */
const ownNumbers = (loss_mode: LossMode) =>
  Object.fromEntries(
    KERNEL_NUMBERS.filter((name) => name in policyLossOf(loss_mode).numbers).map((name) => [
      name,
      (live: LiveValues<ObjectiveLive>) => live[name],
    ]),
  )

/** One call of a policy loss, or of what it chooses if anything, on a micro-batch. */
function runPolicyLoss(
  { run }: Pick<Recorder<ObjectiveLive>, 'run'>,
  { loss_mode, weight = 1 }: Pick<Objective, 'loss_mode' | 'weight'>,
  which: 'loss' | 'choice',
  t: ObjectiveTensors,
  sums: Tensor,
): void {
  const kernel = LOSS_KERNELS[loss_mode][which]
  if (!kernel) return
  const [rows, response_length] = t.response_mask.shape
  const { log_probs, old_log_probs, advantages, token_weights, pg_weights } = t
  run(
    kernel,
    {
      rows,
      response_length,
      sequence_scale: (live) => weight * live.sequence_scale,
      select_count: (live) => live.select_count,
      seed: (live) => live.seed,
      ...ownNumbers(loss_mode),
    },
    {
      log_probs,
      old_log_probs,
      advantages,
      token_weights,
      pg_weights,
      rollout_is_weights: t.rollout_is_weights,
      d_log_probs: t.d_log_probs,
      sums,
    },
  )
}

/** Whether a loss chooses tokens over the whole micro-batch. */
export const choosesTokens = ({ loss_mode }: Pick<Objective, 'loss_mode'>): boolean =>
  policyLossOf(loss_mode).choice !== undefined

/** Which tokens the policy loss chose in the update that has just run on a micro-batch, with the
 * same live numbers: 1 or 0 in d_log_probs, which the backward no longer needs. `sums` stay as they
 * are. */
export function recordChoice(
  recorder: Pick<Recorder<ObjectiveLive>, 'run'>,
  { loss_mode }: Pick<Objective, 'loss_mode'>,
  t: ObjectiveTensors,
  { sums }: { sums: Tensor },
): void {
  runPolicyLoss(recorder, { loss_mode }, 'choice', t, sums)
}

/** Tokens and rows of a mini-batch, and of the micro-batch of it that goes through at once. */
export interface LossCounts {
  readonly miniRows: number
  readonly miniTokens: number
  readonly microRows: number
  readonly microTokens: number
  /** Columns that a response may fill; missing: all that the tensors have. */
  readonly max_response_length?: number
}

/** The numbers of one micro-batch. `seed` varies a random choice of tokens from call to call. */
export function objectiveLive(
  actor: Omit<Actor, 'optim' | 'grad_clip' | 'ppo_mini_batch_size' | 'ppo_epochs'>,
  loss_mode: LossMode,
  { miniRows, miniTokens, microRows, microTokens, max_response_length = 0 }: LossCounts,
  seed: number,
): Record<ObjectiveLive, number> {
  const isLegacy = actor.use_legacy_worker_impl === 'enable'
  const loss = policyLossOf(loss_mode)
  return {
    // 0 = the kernel counts those of the micro-batch.
    token_count: isLegacy ? 0 : miniTokens,
    sequence_count: isLegacy ? 0 : miniRows,
    scale: isLegacy ? microRows / miniRows : 1,
    ranks: 1,
    // verl's legacy worker does not pass the factor on.
    loss_scale_factor: (isLegacy ? null : actor.loss_scale_factor) ?? max_response_length,
    sequence_scale: 1 / miniRows,
    select_count: loss.choice?.count(numbersOf(loss, actor), microTokens) ?? 0,
    seed,
    ...kernelNumbers(actor),
    entropy_quantile: 1 - actor.top_entropy_quantile,
    entropy_coeff: actor.entropy_coeff,
    kl_loss_coef: actor.kl_loss_coef,
  }
}
