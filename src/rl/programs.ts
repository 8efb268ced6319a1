// The actor's programs: what is recorded once and replayed in every step.

import { masked_sum } from '../kernels/metrics/metrics.ts'
import {
  adamw_update,
  grad_norm_finish,
  grad_norm_partial,
} from '../kernels/optimizer/optimizer.ts'
import { policy_loss_vanilla, sft_loss } from '../kernels/policy_loss/policy_loss.ts'
import type { Recorder } from '../kernels/program.ts'
import type { Allocator, Tensor } from '../kernels/tensor.ts'
import { type ParamLayout, trainedPrefix } from '../model/params.ts'
import { backward, forward, readPolicy } from '../model/transformer.ts'
import type { Workspace } from '../model/workspace.ts'
import {
  type ActorSize,
  type ActorTensors,
  type BatchTensors,
  probeStride,
} from './actor_tensors.ts'

/** torch.optim.AdamW's eps. */
const ADAM_EPS = 1e-8

export type ApplyLive = 'lr' | 'beta1' | 'beta2' | 'weight_decay' | 'max_norm'
export type ScoreLive = 'row' | 'inv_temperature'
export type UpdateLive = ScoreLive | 'inv_token_count' | 'low' | 'high' | 'c' | 'entropy_coeff'

/** Copies rows [row, row + ws.rows) of the batch into the workspace. */
function loadRows(
  recorder: Pick<Recorder<'row'>, 'copy'>,
  batch: BatchTensors,
  ws: Workspace,
  names: readonly ('old_log_probs' | 'advantages')[] = [],
): void {
  const { width: T, response_length: R } = ws
  const copy = (from: Tensor, to: Tensor, columns: number) =>
    recorder.copy(from, to, { from_offset: ({ row }) => row * columns, count: ws.rows * columns })
  copy(batch.input_ids, ws.input_ids, T)
  copy(batch.attention_mask, ws.attention_mask, T)
  copy(batch.position_ids, ws.position_ids, T)
  copy(batch.response_ids, ws.response.response_ids, R)
  copy(batch.response_mask, ws.response.response_mask, R)
  for (const name of names) copy(batch[name], ws.response[name], R)
}

export function recordScore(
  r: Recorder<ScoreLive>,
  t: ActorTensors,
  ws: Workspace,
  layer: number,
): void {
  loadRows(r, t.batch, ws)
  forward(r, t.model, ws, layer)
  readPolicy(r, t.model, ws, layer, (live) => live.inv_temperature)
  const R = ws.response_length
  const count = ws.rows * R
  r.copy(ws.response.log_probs, t.batch.old_log_probs, { to_offset: ({ row }) => row * R, count })
}

export function recordUpdate(
  r: Recorder<UpdateLive>,
  t: ActorTensors,
  ws: Workspace,
  layer: number,
): void {
  loadRows(r, t.batch, ws, ['old_log_probs', 'advantages'])
  forward(r, t.model, ws, layer)
  readPolicy(r, t.model, ws, layer, (live) => live.inv_temperature)
  const { log_probs, old_log_probs, advantages, response_mask, entropy } = ws.response
  const { d_log_probs, d_entropy } = ws.response
  r.run(
    policy_loss_vanilla,
    {
      tokens: ws.rows * ws.response_length,
      clip_ratio_low: (live) => live.low,
      clip_ratio_high: (live) => live.high,
      clip_ratio_c: (live) => live.c,
      inv_token_count: (live) => live.inv_token_count,
      entropy_coeff: (live) => live.entropy_coeff,
    },
    {
      log_probs,
      old_log_probs,
      advantages,
      response_mask,
      entropy,
      d_log_probs,
      d_entropy,
      sums: t.sums,
    },
  )
  backward(r, t.model, t.gradients, ws, layer, (live) => live.inv_temperature)
}

export function recordSft(
  r: Recorder<'row' | 'inv_token_count'>,
  t: ActorTensors,
  ws: Workspace,
  layer: number,
): void {
  loadRows(r, t.batch, ws)
  forward(r, t.model, ws)
  readPolicy(r, t.model, ws, layer, 1)
  const { log_probs, response_mask, d_log_probs, d_entropy } = ws.response
  const tokens = ws.rows * ws.response_length
  r.run(
    sft_loss,
    { tokens, inv_token_count: (live) => live.inv_token_count },
    { log_probs, response_mask, d_log_probs, d_entropy, sums: t.sums },
  )
  backward(r, t.model, t.gradients, ws, layer, 1)
}

/** Global norm, clip and AdamW over the parameters that the policy of `layer` trains; the others are not touched. */
export function recordApply(
  r: Recorder<ApplyLive>,
  t: ActorTensors,
  layout: ParamLayout,
  layer: number,
): void {
  const { count, segments } = trainedPrefix(layout, layer)
  const { partials, control, corrections, chunk_segment, m, v } = t
  r.run(grad_norm_partial, { count }, { gradients: t.gradients.flat, partials })
  r.run(
    grad_norm_finish,
    {
      max_norm: (live) => live.max_norm,
      segments: layout.segment_ends.length,
      active_segments: segments,
      one_minus_beta1: (live) => 1 - live.beta1,
      one_minus_beta2: (live) => 1 - live.beta2,
    },
    { partials, control, corrections },
  )
  r.run(
    adamw_update,
    {
      count,
      lr: (live) => live.lr,
      beta1: (live) => live.beta1,
      beta2: (live) => live.beta2,
      one_minus_beta1: (live) => 1 - live.beta1,
      one_minus_beta2: (live) => 1 - live.beta2,
      eps: ADAM_EPS,
      weight_decay: (live) => live.weight_decay,
    },
    {
      gradients: t.gradients.flat,
      control,
      chunk_segment,
      corrections,
      weights: t.model.weights.flat,
      m,
      v,
    },
  )
}

/** Entropy of every layer's policy on the probe's own rows (Actor.uploadProbe), summed over their response tokens. */
export function recordProbe(
  alloc: Allocator,
  r: Recorder<never>,
  t: ActorTensors,
  size: ActorSize,
): void {
  const ws = t.probe
  const stride = probeStride(size)
  const layers = t.model.shape.num_hidden_layers
  forward(r, t.model, ws, layers, (l) => {
    const shape = [ws.rows, ws.response_length]
    const entropy = alloc.view(t.probe_entropy, `probe_entropy.${l}`, l * stride, shape)
    const { log_probs, lse } = ws.response
    readPolicy(r, t.model, ws, l, 1, { log_probs, lse, entropy })
  })
  const tensors = { values: t.probe_entropy, mask: t.probe_mask, sums: t.probe_sums }
  r.run(masked_sum, { count: stride, sets: layers + 1 }, tensors)
}
