// Computes losses of policies and their gradients, by the actor's own programs and by the float64
// reference.

import type { Gpu } from '../../src/kernels/device/gpu.ts'
import { klLossRef } from '../../src/kernels/kl/kl.ref.ts'
import { sftLossRef } from '../../src/kernels/policy_loss/entropy_loss.ref.ts'
import { aggregationWeights } from '../../src/kernels/policy_loss/loss_weights.ref.ts'
import { POLICY_LOSS_SUMS } from '../../src/kernels/policy_loss/policy_loss_frame.ts'
import { readParams, wholeTensor } from '../../src/model/params/param_copies.ts'
import { backwardRef } from '../../src/model/transformer/backward.ref.ts'
import type { RefAdapter } from '../../src/model/transformer/low_rank.ref.ts'
import { policyRef } from '../../src/model/transformer/policy.ref.ts'
import { forwardRef } from '../../src/model/transformer/transformer.ref.ts'
import type { RlPhase } from '../../src/rl/config/phase.ts'
import type { RolloutBatch } from '../../src/rl/experience/batch.ts'
import type { BatchColumns } from '../../src/rl/experience/training_batch.ts'
import { phaseRows } from '../../src/rl/learners/base/batch_rows.ts'
import { blocksRead, policyBackwardRef } from '../../src/rl/learners/policy_backward.ref.ts'
import { policyLossRef } from '../../src/rl/losses/policy_loss.ref.ts'
import { goldenActor, sftPhase } from './golden_actor.ts'
import { type Gradients, namedGradients } from './gradients.ts'
import { type ModelCase, refResponse, responseTokens, widthOf } from './model_case.ts'

/** What is differentiated: a model, with an adapter on or without one. */
interface Differentiated extends Pick<ModelCase, 'model' | 'params'> {
  readonly adapter?: RefAdapter | undefined
}

/** A loss as a phase of the trainer has it. */
export interface Loss {
  readonly phase: RlPhase
  /** Per-token arrays that the loss needs beside ids and mask, [B, R]. */
  readonly columns: Record<string, Float64Array>
}

/** Cross entropy of the response tokens, averaged over them, and its gradients in float64. */
export function supervisedGradientRef(
  { model: { config }, params, adapter }: Differentiated,
  batch: RolloutBatch,
): Gradients {
  const layer = config.num_hidden_layers
  const response = refResponse(batch)
  const cache = forwardRef(config, params, { ...batch, width: widthOf(batch) }, { adapter })
  const { log_probs } = policyRef(config, params, cache, layer, response)
  const tokens = responseTokens(batch)
  const { loss, d_log_probs } = sftLossRef(1 / tokens, log_probs, batch.response_mask)
  const d_entropy = new Float64Array(d_log_probs.length)
  const grads = backwardRef(config, params, cache, layer, { ...response, d_log_probs, d_entropy })
  return { loss, grads, metrics: {} }
}

/** The same by the actor. */
export async function supervisedGradientGpu(
  c: ModelCase,
  gpu: Gpu,
  batch: RolloutBatch,
): Promise<Gradients> {
  const actor = await goldenActor(c, gpu, batch, [sftPhase(batch.rows)])
  actor.beginStep()
  actor.upload(batch, { micro: batch.rows })
  actor.trainable.clearGradients()
  actor.accumulateSupervised(batch, batch.rows)
  const [sums, flat] = await readParams(
    gpu,
    wholeTensor(actor.tensors.sums),
    actor.tensors.gradients.buffers,
  )
  return {
    loss: sums[0],
    grads: namedGradients(c.model.layout, flat, c.shape.num_hidden_layers),
    metrics: {},
  }
}

/** The loss of a reinforcement phase and its gradients in float64. */
export function policyGradientRef(
  { model: { config }, params, adapter }: Differentiated,
  batch: RolloutBatch,
  { phase, columns }: Loss,
): Gradients {
  const { actor, target_layer } = phase
  const response = refResponse(batch, phase.rollout.temperature)
  const width = widthOf(batch)
  const layers = blocksRead(config, phase)
  const cache = forwardRef(config, params, { ...batch, width }, { layers, adapter })
  const { log_probs, entropy } = policyRef(config, params, cache, target_layer, response)
  const { response_mask, response_length } = batch
  const weights = aggregationWeights(response_mask, response_length, actor)
  const policy = policyLossRef(actor.loss_mode, actor, {
    log_probs,
    old_log_probs: columns.old_log_probs,
    advantages: columns.advantages,
    response_mask,
    response_length,
  })
  const penalty = actor.use_kl_loss
    ? klLossRef(actor, { log_probs, ref_log_prob: columns.ref_log_prob, loss_weights: weights })
    : { loss: 0, d_log_probs: new Float64Array(log_probs.length) }
  const d_log_probs = policy.d_log_probs.map((d, i) => d + penalty.d_log_probs[i])
  const bonus = policyBackwardRef(config, params, cache, phase, response, {
    entropy,
    loss_weights: weights,
    d_log_probs,
  })
  const kl = actor.use_kl_loss ? actor.kl_loss_coef * penalty.loss : 0
  return {
    loss: policy.loss - actor.entropy_coeff * bonus.entropy + kl,
    grads: bonus.grads,
    metrics: {
      ...policy.metrics,
      'actor/pg_loss': policy.loss,
      'actor/kl_loss': penalty.loss,
      'actor/entropy': bonus.entropy,
    },
  }
}

export const totalLoss = (sums: ArrayLike<number>, actor: RlPhase['actor']) => {
  const sum = (name: (typeof POLICY_LOSS_SUMS)[number]) => sums[POLICY_LOSS_SUMS.indexOf(name)]
  const kl = actor.use_kl_loss ? actor.kl_loss_coef * sum('actor/kl_loss') : 0
  return sum('actor/pg_loss') - actor.entropy_coeff * sum('actor/entropy') + kl
}

/** The loss of a reinforcement phase and its gradients by the actor; of the model's adapter where
 * it has one. */
export async function policyGradientGpu(
  c: ModelCase,
  gpu: Gpu,
  batch: RolloutBatch,
  { phase, columns }: Loss,
  factors?: Float32Array,
): Promise<Gradients> {
  const actor = await goldenActor(c, gpu, batch, [phase], { microRows: batch.rows, factors })
  const rows = phaseRows(phase, widthOf(batch), c.shape)
  actor.beginStep()
  const uploaded = Object.entries(columns).map(([name, x]) => [name, Float32Array.from(x)])
  actor.upload(batch, rows, Object.fromEntries(uploaded) as BatchColumns)
  actor.trainable.clearGradients()
  actor.accumulate(batch, phase, rows, { first: 0, step: 1 })
  const [sums, flat] = await readParams(
    gpu,
    wholeTensor(actor.tensors.sums),
    actor.tensors.gradients.buffers,
  )
  return {
    loss: totalLoss(sums, phase.actor),
    grads: namedGradients(actor.tensors.layout, flat, phase.target_layer),
    metrics: Object.fromEntries(POLICY_LOSS_SUMS.map((name, i) => [name, sums[i]])),
  }
}
