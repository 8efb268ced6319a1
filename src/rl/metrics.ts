// From sums to the numbers that are shown, under verl's names (verl/trainer/ppo/metric_utils.py).
import { CONTROL } from '../kernels/optimizer/optimizer.ts'
import { POLICY_LOSS_METRICS, POLICY_LOSS_SUMS } from '../kernels/policy_loss/policy_loss.ts'
import { VALUE_LOSS_SUMS } from '../kernels/value_loss/value_loss.ts'
import type { Objective } from './objective.ts'

const sumOf = (values: ArrayLike<number>) =>
  Array.prototype.reduce.call(values, (sum, x) => (sum as number) + (x as number), 0) as number

/** Norms before clipping and skipped steps of one model's optimizer in one training step. */
function optimizerRecords(history: Float32Array, updates: number) {
  const control = (name: (typeof CONTROL)[number], update: number) =>
    history[update * CONTROL.length + CONTROL.indexOf(name)]
  const norms = Array.from({ length: updates }, (_, i) => control('grad_norm', i))
  const finite = Array.from({ length: updates }, (_, i) => control('is_finite', i))
  return {
    grad_norm: sumOf(norms) / updates,
    skipped_updates: finite.filter((x) => x === 0).length,
  }
}

/** Loss and optimizer records of one supervised step. */
export function sftMetrics(sums: Float32Array, history: Float32Array): Record<string, number> {
  const { grad_norm, skipped_updates } = optimizerRecords(history, 1)
  return {
    'train/loss': sums[0],
    'train/grad_norm': grad_norm,
    'training/skipped_updates': skipped_updates,
  }
}

/**
 * Loss sums and optimizer records of one reinforcement step. As in verl, losses are sums over mini-batches and the
 * fractions and KLs are means over them; grad_norm is before clipping, its mean over optimizer steps. Unlike verl's legacy
 * worker, `actor/pg_loss` never contains the entropy term.
 */
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
  for (const name of POLICY_LOSS_METRICS[loss_mode]) metrics[name] = sum(name) / updates
  if (kl_loss_type) metrics['actor/kl_loss'] = sum('actor/kl_loss')
  return { ...metrics, 'actor/grad_norm': grad_norm, 'training/skipped_updates': skipped_updates }
}

/** The same for the critic. */
export function criticMetrics(
  sums: Float32Array,
  history: Float32Array,
  updates: number,
): Record<string, number> {
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

/** `layer/entropy/<l>`, l = 0…L: mean over the probed response tokens, nats. */
export function layerEntropies(sums: Float32Array, tokens: number): Record<string, number> {
  return Object.fromEntries(Array.from(sums, (sum, l) => [`layer/entropy/${l}`, sum / tokens]))
}
