// Turns sums into the numbers that are shown, under verl's names
// (verl/trainer/ppo/metric_utils.py).

import { CONTROL } from '../../kernels/optimizer/optimizer.ts'
import { POLICY_LOSS_SUMS } from '../../kernels/policy_loss/policy_loss_frame.ts'
import { PREFERENCE_LOSS_SUMS } from '../../kernels/preference_loss/preference_loss.ts'
import { ROLLOUT_CORRECTION_SUMS } from '../../kernels/rollout_correction/rollout_correction.ts'
import { VALUE_LOSS_SUMS } from '../../kernels/value_loss/value_loss.ts'
import { CHUNK } from '../../model/layout/flat_params.ts'
import { type Inner, innerStudents, isDeeplySupervised } from '../config/inner.ts'
import type { DistillPhase, RlPhase } from '../config/phase.ts'
import { informativeShare } from '../estimators/groups.ts'
import type { DrawnBatch } from '../experience/drawn_batch.ts'
import type { Experience } from '../experience/experience.ts'
import { weightBounds } from '../experience/importance_threshold.ts'
import type { TurnCounts } from '../experience/turn_counts.ts'
import type { Objective } from '../learners/objective.ts'
import { policyLossOf } from '../losses/losses.ts'
import { mean } from '../math/stats.ts'
import { computeDataMetrics, range } from './data_metrics.ts'
import { rewardMetrics } from './reward_metrics.ts'

const sumOf = (values: ArrayLike<number>) =>
  Array.prototype.reduce.call(values, (sum, x) => (sum as number) + (x as number), 0) as number

/** Norms before clipping and skipped steps of one model's optimizer in one training step. */
function optimizerRecords(history: Float32Array, updates: number) {
  const control = (name: (typeof CONTROL)[number], update: number) =>
    history[update * CONTROL.length + CONTROL.indexOf(name)]
  const norms = Array.from({ length: updates }, (_, i) => control('grad_norm', i))
  return {
    grad_norm: sumOf(norms) / updates,
    skipped_updates: takenUpdates(history, updates).filter((isTaken) => !isTaken).length,
  }
}

/** Whether each of the first `updates` optimizer steps in `history` was taken. */
export const takenUpdates = (history: Float32Array, updates: number): boolean[] =>
  Array.from(
    { length: updates },
    (_, i) => history[i * CONTROL.length + CONTROL.indexOf('is_finite')] !== 0,
  )

/** Loss and optimizer records of one supervised step. */
export function sftMetrics(sums: Float32Array, history: Float32Array): Record<string, number> {
  const { grad_norm, skipped_updates } = optimizerRecords(history, 1)
  return {
    'train/loss': sums[0],
    'train/grad_norm': grad_norm,
    'training/skipped_updates': skipped_updates,
  }
}

/** Optimizer records of one step on pairs, and the policy's entropy at the tokens of both
 * responses. */
export function preferenceMetrics(
  sums: Float32Array,
  history: Float32Array,
  tokens: number,
): Record<string, number> {
  const { grad_norm, skipped_updates } = optimizerRecords(history, 1)
  return {
    'preference/entropy': sums[POLICY_LOSS_SUMS.indexOf('actor/entropy')] / tokens,
    'actor/grad_norm': grad_norm,
    'training/skipped_updates': skipped_updates,
  }
}

/** How far the policy is from its teacher in one step, per token and before the update: the sum
 * over all that are taught, and each; entropy of the deepest at the tokens of the batch. */
export function distillMetrics(
  { target_layer, layers }: Pick<DistillPhase, 'target_layer' | 'layers'>,
  sums: Float32Array,
  teacher_sums: Float32Array,
  history: Float32Array,
  tokens: number,
): Record<string, number> {
  const { grad_norm, skipped_updates } = optimizerRecords(history, 1)
  const taught = [target_layer, ...layers]
  const losses = teacher_sums.subarray(0, taught.length)
  return {
    'distillation/loss': sumOf(losses),
    ...(layers.length > 0 &&
      Object.fromEntries(taught.map((layer, i) => [`distillation/loss/${layer}`, losses[i]]))),
    'distillation/entropy': sums[POLICY_LOSS_SUMS.indexOf('actor/entropy')] / tokens,
    'actor/grad_norm': grad_norm,
    'training/skipped_updates': skipped_updates,
  }
}

/** The mean cross-entropy of a distilling step that imitates too, without its weight. */
export const imitationMetrics = (
  { distillation: { crossentropy_weight = 0 } }: Pick<DistillPhase, 'distillation'>,
  sums: Float32Array,
): Record<string, number> => ({ 'distillation/crossentropy': sums[0] / crossentropy_weight })

/** Loss sums and optimizer records of one reinforcement step. As in verl, losses are sums over
 * mini-batches and the fractions and KLs are means over them; grad_norm is before clipping, its
 * mean over optimizer steps. Unlike verl's legacy worker, `actor/pg_loss` never contains the
 * entropy term. */
export function actorMetrics(
  { loss_mode, kl_loss_type }: Pick<Objective, 'loss_mode' | 'kl_loss_type'>,
  sums: Float32Array,
  history: Float32Array,
  updates: number,
): Record<string, number> {
  if (updates === 0) return { 'training/skipped_updates': 0 }
  const { grad_norm, skipped_updates } = optimizerRecords(history, updates)
  const sum = (name: (typeof POLICY_LOSS_SUMS)[number]) => sums[POLICY_LOSS_SUMS.indexOf(name)]
  const metrics: Record<string, number> = { 'actor/pg_loss': sum('actor/pg_loss') }
  for (const name of policyLossOf(loss_mode).metrics) metrics[name] = sum(name) / updates
  if (kl_loss_type) metrics['actor/kl_loss'] = sum('actor/kl_loss')
  return { ...metrics, 'actor/grad_norm': grad_norm, 'training/skipped_updates': skipped_updates }
}

/** What the inner layers that learn along lost: their divergence from the final policy, or their
 * own policy loss, without its weight. */
export function innerMetrics(
  inner: Inner,
  { teacher_sums, inner_sums }: Readonly<Record<'teacher_sums' | 'inner_sums', Float32Array>>,
): Record<string, number> {
  const isOwn = isDeeplySupervised(inner)
  const losses = innerStudents(inner).map(({ layer, weight }, i) => {
    const loss = isOwn ? inner_sums[i * CHUNK] / (weight || 1) : teacher_sums[i]
    return [`actor/${isOwn ? 'inner_pg_loss' : 'inner_divergence'}/${layer}`, loss]
  })
  return Object.fromEntries(losses)
}

/** Means over the micro-batches of one step of what rollout correction found in bypass mode, as far
 * as it was asked for. */
export function bypassMetrics(
  { bypass }: Pick<Objective, 'bypass'>,
  sums: Float32Array,
  microBatches: number,
): Record<string, number> {
  if (!bypass || microBatches === 0) return {}
  const isWeighted = bypass.rollout_is !== null
  const isBounded = isWeighted && weightBounds(bypass.rollout_is_threshold).lower !== null
  const reported: Record<(typeof ROLLOUT_CORRECTION_SUMS)[number], boolean> = {
    'rollout_corr/kl': true,
    'rollout_corr/rollout_rs_masked_fraction': bypass.rollout_rs !== null,
    'rollout_corr/rollout_is_mean': isWeighted,
    'rollout_corr/rollout_is_batch_norm_factor': isWeighted && bypass.rollout_is_batch_normalize,
    'rollout_corr/rollout_is_ratio_fraction_high': isBounded,
    'rollout_corr/rollout_is_ratio_fraction_low': isBounded,
    'rollout_corr/rollout_is_oob_ratio': isBounded,
  }
  const names = ROLLOUT_CORRECTION_SUMS.filter((name) => reported[name])
  return Object.fromEntries(
    names.map((name) => [name, sums[ROLLOUT_CORRECTION_SUMS.indexOf(name)] / microBatches]),
  )
}

/** The same as actorMetrics for the critic. */
export function criticMetrics(
  sums: Float32Array,
  history: Float32Array,
  updates: number,
): Record<string, number> {
  if (updates === 0) return { 'critic/skipped_updates': 0 }
  const { grad_norm, skipped_updates } = optimizerRecords(history, updates)
  const sum = (name: (typeof VALUE_LOSS_SUMS)[number]) => sums[VALUE_LOSS_SUMS.indexOf(name)]
  return {
    'critic/vf_loss': sum('critic/vf_loss'),
    'critic/vf_clipfrac': sum('critic/vf_clipfrac') / updates,
    'critic/vpred_mean': sum('critic/vpred_mean') / updates,
    'critic/grad_norm': grad_norm,
    'critic/skipped_updates': skipped_updates,
  }
}

/** Scores of pairs: those of the chosen responses, and of the rejected ones in the same order. */
export interface PairScores {
  readonly chosen: readonly number[]
  readonly rejected: readonly number[]
}

/** Mean of chosen - rejected, and the share of pairs in which it is above 0. */
const margins = ({ chosen, rejected }: PairScores) => {
  const differences = chosen.map((score, i) => score - rejected[i])
  return { margin: mean(differences), accuracy: mean(differences.map((d) => (d > 0 ? 1 : 0))) }
}

/** One step of a reward model: loss (nats per pair) and accuracy of its batch before the update,
 * margin of the same scores (Hugging Face trl's name for the mean of chosen - rejected), and both
 * on held-out pairs after it where those were scored. */
export function rewardModelMetrics(
  sums: Float32Array,
  history: Float32Array,
  batch: PairScores,
  heldOut: PairScores,
): Record<string, number> {
  const { grad_norm, skipped_updates } = optimizerRecords(history, 1)
  const metrics: Record<string, number> = {}
  PREFERENCE_LOSS_SUMS.forEach((name, i) => {
    metrics[name] = sums[i]
  })
  metrics['reward_model/margin'] = margins(batch).margin
  if (heldOut.chosen.length > 0) {
    const { margin, accuracy } = margins(heldOut)
    metrics['reward_model/held_out_accuracy'] = accuracy
    metrics['reward_model/held_out_margin'] = margin
  }
  return {
    ...metrics,
    'reward_model/grad_norm': grad_norm,
    'training/skipped_updates': skipped_updates,
  }
}

/** What is known of one reinforcement step before its update is read back: scores, advantages,
 * lengths, corrections. */
export function rlMetrics(
  phase: Pick<RlPhase, 'actor' | 'rollout'>,
  drawn: DrawnBatch,
  experience: Omit<Experience, 'response_mask'> & { readonly response_mask: Float32Array },
  values: Float32Array | undefined,
): Record<string, number> {
  const { batch, taskScores, order, token_level_scores } = drawn
  const { n, max_response_length } = phase.rollout
  const asDrawn: number[] = []
  // With penalties: groups of one score that differ by them teach something.
  const R = batch.response_length
  order.forEach((row, b) => {
    asDrawn[row] = sumOf(token_level_scores.subarray(b * R, (b + 1) * R))
  })
  return {
    ...computeDataMetrics({
      ...batch,
      ...experience,
      token_level_scores,
      max_response_length,
      ...(values && { values }),
    }),
    'task/score/mean': mean(taskScores),
    ...rewardMetrics(drawn),
    ...experience.metrics,
    ...drawn.metrics,
    ...(phase.actor.use_kl_loss && { 'actor/kl_coef': phase.actor.kl_loss_coef }),
    'group/informative': informativeShare(asDrawn, n),
    ...(batch.turns && turnMetrics(batch.turns)),
    'response/not_ended_ratio': batch.is_ended.filter((isEnded) => !isEnded).length / batch.rows,
  }
}

/** How often rows changed hands, and how many calls a person's program did not answer. num_turns is
 * verl's and counts the prompt. */
function turnMetrics({ num_turns, tool_calls, tool_problems }: TurnCounts): Record<string, number> {
  const failed = tool_problems?.flat()
  const count = (kind: string) => failed?.filter((own) => own.kind === kind).length ?? 0
  return {
    ...(failed && { 'tool_calls/timeouts': count('timeout'), 'tool_calls/errors': count('error') }),
    ...range('num_turns', num_turns),
    'tool_calls/mean': mean(tool_calls),
  }
}

/** `layer/entropy/<l>`, l = 0…L: mean over the probed response tokens, nats. */
export function layerEntropies(sums: Float32Array, tokens: number): Record<string, number> {
  return Object.fromEntries(Array.from(sums, (sum, l) => [`layer/entropy/${l}`, sum / tokens]))
}
