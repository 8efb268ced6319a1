// Makes the critic of a case: in float64, and as the trainer makes it.

import type { Gpu } from '../../src/kernels/device/gpu.ts'
import { valueLossRef } from '../../src/kernels/value_loss/value_loss.ref.ts'
import { VALUE_LOSS_SUMS } from '../../src/kernels/value_loss/value_loss.ts'
import { listScored } from '../../src/kernels/vocab_head/scored.ts'
import type { HfModel } from '../../src/model/hf/hf_model.ts'
import { unpackWeights } from '../../src/model/layout/params.ts'
import { readParams, wholeTensor } from '../../src/model/params/param_copies.ts'
import type { RefArrays } from '../../src/model/transformer/operations.ref.ts'
import { uploadRows } from '../../src/model/transformer/rows.ts'
import { forwardRef } from '../../src/model/transformer/transformer.ref.ts'
import { forward } from '../../src/model/transformer/transformer.ts'
import {
  readSpan,
  scatterSpan,
  valuesBackwardRef,
  valuesRef,
} from '../../src/model/transformer/value.ref.ts'
import { readValues } from '../../src/model/transformer/value.ts'
import type { RolloutBatch } from '../../src/rl/experience/batch.ts'
import type { Actor } from '../../src/rl/learners/actor.ts'
import { Critic } from '../../src/rl/learners/critic.ts'
import { createCriticTensors } from '../../src/rl/learners/critic_tensors.ts'
import { goldenActor } from './golden_actor.ts'
import type { Gradients } from './gradients.ts'
import { type ModelCase, refResponse, widthOf } from './model_case.ts'

type Numbers = ArrayLike<number>

/** Values of a batch. */
export interface Values {
  /** At every column, [B, S]. */
  readonly all: Numbers
  /** Those that belong to response tokens, [B, R]. */
  readonly response: Numbers
}

/** What the value loss is computed from, [B, R], beside the critic itself. */
export interface ValueTargets {
  /** Before the update; clipping is around them. */
  readonly values: Float64Array
  readonly returns: Float64Array
  readonly cliprange_value: number
}

/** Values in float64. */
export function valuesOfRef(c: ModelCase, params: RefArrays, batch: RolloutBatch): Values {
  const cache = forwardRef(c.model.config, params, { ...batch, width: widthOf(batch) })
  const all = valuesRef(params, cache)
  const { first_column } = refResponse(batch)
  return { all, response: readSpan(all, cache, batch.response_mask, first_column) }
}

/** The value loss over the tokens of a batch, and its gradients, in float64. */
export function valueGradientRef(
  c: ModelCase,
  params: RefArrays,
  batch: RolloutBatch,
  { values, returns, cliprange_value }: ValueTargets,
): Gradients {
  const cache = forwardRef(c.model.config, params, { ...batch, width: widthOf(batch) })
  const { first_column } = refResponse(batch)
  const { response_mask, response_length } = batch
  const vpreds = readSpan(valuesRef(params, cache), cache, response_mask, first_column)
  const { loss, d_vpreds, metrics } = valueLossRef(
    { loss_agg_mode: 'token-mean', cliprange_value },
    { vpreds, values, returns, response_mask, response_length },
  )
  const d_values = scatterSpan(d_vpreds, cache, response_mask, first_column)
  return { loss, metrics, grads: valuesBackwardRef(c.model.config, params, cache, d_values) }
}

/** A critic on the GPU, with the actor whose batch and workspace it borrows. */
export interface CriticDevice {
  readonly gpu: Gpu
  readonly actor: Actor
  readonly critic: Critic
}

/** The critic as the trainer makes it, for batches like `batch` and mini-batches of `mini` rows. */
export async function createCritic(
  c: ModelCase,
  model: HfModel,
  gpu: Gpu,
  batch: RolloutBatch,
  mini: number = batch.rows,
): Promise<CriticDevice> {
  const actor = await goldenActor(c, gpu, batch, [], { microRows: mini })
  const { rows, response_length } = batch
  const { matmul } = c
  const size = { rows, response_length, updates: rows, kernels: { matmul } }
  const tensors = createCriticTensors(gpu, model.layout, size)
  const shared = { batch: actor.batch, workspace: actor.tensors.workspace }
  const critic = await Critic.create(gpu, model.layout, tensors, shared, model.weights)
  await critic.prepare(mini, 'token-mean')
  return { gpu, actor, critic }
}

/** Values by kernels, of a batch that fits into the workspace at once. */
export async function valuesOfGpu(
  { gpu, actor, critic }: CriticDevice,
  batch: RolloutBatch,
): Promise<Values> {
  const { rows } = batch
  const width = widthOf(batch)
  const { workspace: ws } = actor.tensors
  actor.upload(batch, { micro: batch.rows })
  critic.computeValues({ batch: rows, mini: rows, micro: rows })
  const [response] = await gpu.read(critic.tensors.values)
  const columns = { rows, width, first_column: 0, response_length: width }
  const data = listScored(columns, batch.input_ids, batch.attention_mask)
  const scored = gpu.tensor('scored', 'u32', [rows * width, 4], { data })
  const values = gpu.tensor('values', 'f32', [rows, width])
  uploadRows(gpu, ws, batch)
  const everywhere = await gpu.record('values_everywhere', [], (r) => {
    const { model } = critic.tensors
    forward(r, model, ws)
    readValues(r, model, ws, { values, scored: { tokens: rows * width, scored } })
  })
  gpu.replay(everywhere)
  const [all] = await gpu.read(values)
  return { all, response }
}

/** Adds the gradients of rows [first, first + mini) of an uploaded batch with values and returns,
 * from zero. */
export function accumulateValueLoss(
  { critic }: CriticDevice,
  batch: RolloutBatch,
  { first, mini }: { readonly first: number; readonly mini: number },
  cliprange_value: number,
): void {
  critic.beginStep()
  critic.trainable.clearGradients()
  // Micro-batches are divided by the counts of their mini-batch.
  const rule = { isLegacy: false, max_response_length: batch.response_length }
  const settings = { cliprange_value, loss_agg_mode: 'token-mean' } as const
  critic.accumulate(batch, settings, { batch: batch.rows, mini, micro: mini }, { first }, rule)
}

/** The same loss and gradients by kernels. */
export async function valueGradientGpu(
  device: CriticDevice,
  batch: RolloutBatch,
  { values, returns, cliprange_value }: ValueTargets,
): Promise<Gradients> {
  const { gpu, actor, critic } = device
  const { tensors } = critic
  actor.upload(batch, { micro: batch.rows })
  gpu.write(tensors.values, Float32Array.from(values))
  gpu.write(tensors.returns, Float32Array.from(returns))
  accumulateValueLoss(device, batch, { first: 0, mini: batch.rows }, cliprange_value)
  const [sums, flat] = await readParams(
    gpu,
    wholeTensor(tensors.value_sums),
    tensors.gradients.buffers,
  )
  return {
    ...valueMetrics(sums),
    grads: unpackWeights(critic.trainable.layout, flat),
  }
}

/** The loss and what is counted with it, from the sums of one update. */
export function valueMetrics(sums: Numbers): Pick<Gradients, 'loss' | 'metrics'> {
  const metrics = Object.fromEntries(VALUE_LOSS_SUMS.map((name, i) => [name, sums[i]]))
  return { loss: metrics['critic/vf_loss'], metrics }
}
