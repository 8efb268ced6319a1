// From sums to the numbers that are shown, under verl's names (verl/trainer/ppo/metric_utils.py).
import { CONTROL } from '../kernels/optimizer/optimizer.ts'
import { POLICY_LOSS_SUMS } from '../kernels/policy_loss/policy_loss.ts'
import type { RolloutBatch } from './batch.ts'
import type { Phase } from './phase.ts'

const sumOf = (values: ArrayLike<number>) =>
  Array.prototype.reduce.call(values, (sum, x) => (sum as number) + (x as number), 0) as number

/** Scores, advantages and lengths of one batch: computed where they are, on the CPU. */
export function responseMetrics(
  batch: RolloutBatch,
  scores: readonly number[],
  advantages: Float64Array,
): Record<string, number> {
  const { rows, response_lengths, is_ended } = batch
  const tokens = sumOf(response_lengths)
  const weighted = Array.from(advantages, (a, b) => a * response_lengths[b])
  const lengths = [...response_lengths]
  return {
    'critic/score/mean': sumOf(scores) / rows,
    'critic/score/max': Math.max(...scores),
    'critic/score/min': Math.min(...scores),
    'critic/advantages/mean': sumOf(weighted) / tokens,
    'critic/advantages/max': Math.max(...advantages),
    'critic/advantages/min': Math.min(...advantages),
    'response_length/mean': tokens / rows,
    'response_length/max': Math.max(...lengths),
    'response_length/min': Math.min(...lengths),
    'response_length/clip_ratio': is_ended.filter((ended) => !ended).length / rows,
  }
}

/**
 * Loss sums and optimizer records of one training step. As in verl, `actor/pg_loss` is the sum over mini-batches and the
 * fractions and KL are means over them; grad_norm is before clipping, its mean over optimizer steps.
 */
export function actorMetrics(
  kind: Phase['kind'],
  sums: Float32Array,
  history: Float32Array,
  updates: number,
): Record<string, number> {
  const control = (name: (typeof CONTROL)[number], update: number) =>
    history[update * CONTROL.length + CONTROL.indexOf(name)]
  const norms = Array.from({ length: updates }, (_, i) => control('grad_norm', i))
  const finite = Array.from({ length: updates }, (_, i) => control('is_finite', i))
  const grad_norm = sumOf(norms) / updates
  const shared = { 'training/skipped_updates': finite.filter((x) => x === 0).length }
  if (kind === 'sft') return { 'train/loss': sums[0], 'train/grad_norm': grad_norm, ...shared }
  const sum = (name: (typeof POLICY_LOSS_SUMS)[number]) => sums[POLICY_LOSS_SUMS.indexOf(name)]
  return {
    'actor/pg_loss': sum('actor/pg_loss'),
    'actor/ppo_kl': sum('actor/ppo_kl') / updates,
    'actor/pg_clipfrac': sum('actor/pg_clipfrac') / updates,
    'actor/pg_clipfrac_lower': sum('actor/pg_clipfrac_lower') / updates,
    'actor/grad_norm': grad_norm,
    ...shared,
  }
}

/** `layer/entropy/<l>`, l = 0…L: mean over the probed response tokens, nats. */
export function layerEntropies(sums: Float32Array, tokens: number): Record<string, number> {
  return Object.fromEntries(Array.from(sums, (sum, l) => [`layer/entropy/${l}`, sum / tokens]))
}
