// Records the actor's programs: what is recorded once and replayed in every step.

import type { LiveValues, Recorder, Value } from '../../kernels/device/base/program.ts'
import type { Allocator, Tensor } from '../../kernels/device/base/tensor.ts'
import { masked_sum } from '../../kernels/metrics/metrics.ts'
import { mix } from '../../kernels/mixture/mix.ts'
import { find_nonfinite_token } from '../../kernels/nonfinite/nonfinite.ts'
import { entropy_loss, sft_loss } from '../../kernels/policy_loss/entropy_loss.ts'
import { type Stretch, within } from '../../model/params/param_buffers.ts'
import { backward } from '../../model/transformer/backward.ts'
import type { Model } from '../../model/transformer/model.ts'
import { type PolicyRead, readPolicy } from '../../model/transformer/policy.ts'
import { forward } from '../../model/transformer/transformer.ts'
import type { Workspace } from '../../model/transformer/workspace.ts'
import type { BatchTensors } from '../experience/training_batch.ts'
import { type ActorSize, type ActorTensors, probeStride } from './actor_tensors.ts'
import { UPDATE_TRACE } from './base/step_trace.ts'
import {
  choosesTokens,
  type Objective,
  type ObjectiveLive,
  recordChoice,
  recordObjective,
} from './objective.ts'

export type RowsLive = 'row' | 'tokens'
export type ScoreLive = RowsLive | 'inv_temperature'
export type TraceLive = 'row' | ObjectiveLive
export type UpdateLive = ScoreLive | ObjectiveLive | 'epoch'

/** Copies rows [row, row + ws.rows) of the batch, a micro-batch, into the workspace. */
export function loadRows(
  recorder: Pick<Recorder<'row'>, 'copy'>,
  batch: BatchTensors,
  ws: Workspace,
): void {
  loadColumns(recorder, batch, ws, ['input_ids', 'attention_mask', 'position_ids'])
  loadColumns(recorder, batch, ws.response, ['scored', 'response_ids', 'response_mask'])
  const { rows } = ws
  const fromOffset = ({ row }: { row: number }) => (row / rows) * (rows + 1)
  recorder.copy(batch.cu_seqlens, ws.cu_seqlens, { fromOffset, count: rows + 1 })
}

/** Tokens of the micro-batch. */
export const tokens = ({ tokens }: { tokens: number }): number => tokens

/** Copies rows [row, row + ws.rows) of the named arrays, [B, columns]. */
export function loadColumns<N extends string>(
  recorder: Pick<Recorder<'row'>, 'copy'>,
  batch: { readonly [K in N]: Tensor },
  ws: { readonly [K in N]: Tensor },
  names: readonly N[],
): void {
  for (const name of names) {
    const [rows, columns] = ws[name].shape
    const fromOffset = ({ row }: { row: number }) => row * columns
    recorder.copy(batch[name], ws[name], { fromOffset, count: rows * columns })
  }
}

/** Copies per-token arrays of the workspace to rows [row, row + ws.rows) of the batch. */
export function storeRows(recorder: Pick<Recorder<'row'>, 'copy'>, from: Tensor, to: Tensor): void {
  const [rows, R] = from.shape
  recorder.copy(from, to, { toOffset: ({ row }) => row * R, count: rows * R })
}

/** Where the policy is read: after how many blocks, and how. */
type ReadPlace = Pick<PolicyRead<never>, 'layer' | 'readout'>

/** Forward and head of one micro-batch: log-probs under the policy that is being trained. */
export function recordPass(
  r: Recorder<ScoreLive>,
  t: ActorTensors,
  ws: Workspace,
  { layer, readout }: ReadPlace,
): void {
  loadRows(r, t.batch, ws)
  forward(r, t.model, ws, { layers: layer, count: tokens })
  readPolicy(r, t.model, ws, {
    layer,
    inv_temperature: (live) => live.inv_temperature,
    count: tokens,
    readout,
  })
}

/** Keeps what the last pass read as that of the old policy: verl's recomputed old_log_probs. */
export function recordOld(
  r: Pick<Recorder<'row'>, 'copy'>,
  { batch }: Pick<ActorTensors, 'batch'>,
  { response }: Workspace,
): void {
  storeRows(r, response.log_probs, batch.old_log_probs)
  storeRows(r, response.sum_pi_squared, batch.sum_pi_squared)
}

/** Log-probs of the batch under the frozen reference, read after the same number of blocks. */
export function recordReference(
  r: Recorder<ScoreLive>,
  t: ActorTensors,
  reference: Model,
  ws: Workspace,
  { layer, readout }: ReadPlace,
): void {
  loadRows(r, t.batch, ws)
  // Nothing runs backward through it, so nothing is kept of it.
  forward(r, reference, { ...ws, halves: undefined }, { layers: layer, count: tokens })
  readPolicy(r, reference, ws, {
    layer,
    inv_temperature: (live) => live.inv_temperature,
    count: tokens,
    readout,
  })
  storeRows(r, ws.response.log_probs, t.batch.ref_log_prob)
}

/** Mixes the reference with the weights as they are, `alpha` of them. */
export function recordMixture(
  alloc: Pick<Allocator, 'view'>,
  { run }: Pick<Recorder<'alpha'>, 'run'>,
  { model, reference }: Pick<ActorTensors, 'model' | 'reference'>,
): void {
  const { own } = reference ?? {}
  for (const { stretch: to, from: start, to: end } of own ? within(own, 0, own.size) : [])
    for (const { stretch, from, to: until } of within(model.weights.buffers, start, end)) {
      const part = ({ tensor, start }: Stretch) =>
        alloc.view(tensor, tensor.label, from - start, [until - from])
      run(
        mix,
        { count: until - from, alpha: (live) => live.alpha, rest: (live) => 1 - live.alpha },
        { from_values: part(stretch), to_values: part(to) },
      )
    }
}

interface Along {
  /** Records what else is to learn, and gives what the backward pass calls at each layer. */
  readonly along?: (() => (layer: number) => void) | undefined
}

/** Objective and backward of the micro-batch that recordPass has just read: adds to the
 * gradients. */
export function recordUpdate(
  r: Recorder<UpdateLive>,
  t: ActorTensors,
  ws: Workspace,
  { layer, readout, along: alongOf }: ReadPlace & Along,
  objective: Objective,
): void {
  const { batch } = t
  loadColumns(r, batch, ws.response, ['old_log_probs', 'advantages'])
  if (!objective.bypass) loadColumns(r, batch, ws.response, ['rollout_is_weights'])
  if (objective.kl_loss_type) loadColumns(r, batch, ws.response, ['ref_log_prob'])
  const inv_temperature = (live: LiveValues<UpdateLive>) => live.inv_temperature
  recordObjective(r, objective, ws.response, t)
  findBrokenToken(r, t, ws, (live) => live.epoch)
  const along = alongOf?.()
  backward(r, t.model, t.gradients, ws, { layer, inv_temperature, count: tokens, readout, along })
}

/** In a phase of an inner layer, after recordUpdate: the bonus for the entropy of the whole model's
 * policy on the same tokens. Adds to the gradients of all layers and of the final norm, and keeps
 * the entropies as those that the update found. */
export function recordFinalEntropy(r: Recorder<UpdateLive>, t: ActorTensors, ws: Workspace): void {
  const { shape } = t.model
  const { entropy, loss_weights, d_log_probs, d_entropy } = ws.response
  const inv_temperature = (live: LiveValues<UpdateLive>) => live.inv_temperature
  forward(r, t.model, ws, { layers: shape.num_hidden_layers, count: tokens })
  readPolicy(r, t.model, ws, { layer: shape.num_hidden_layers, inv_temperature, count: tokens })
  r.clear(d_log_probs)
  r.run(
    entropy_loss,
    { tokens: ws.rows * ws.response_length, entropy_coeff: (live) => live.entropy_coeff },
    { entropy, loss_weights, d_entropy, sums: t.sums },
  )
  backward(r, t.model, t.gradients, ws, {
    layer: shape.num_hidden_layers,
    inv_temperature,
    count: tokens,
  })
  storeRows(r, entropy, t.trace.entropy)
}

/** Copies what the update of the micro-batch that begins at `row` has just left in the workspace:
 * the policy as that update found it. Where several epochs pass over a row, the last one stays. */
export function recordTrace(
  r: Pick<Recorder<TraceLive>, 'copy' | 'run'>,
  { trace, sums }: ActorTensors,
  ws: Workspace,
  objective: Objective,
): void {
  for (const name of UPDATE_TRACE) storeRows(r, ws.response[name], trace[name])
  if (!choosesTokens(objective)) return
  recordChoice(r, objective, ws.response, { sums })
  storeRows(r, ws.response.d_log_probs, trace.chosen)
}

export function recordSft(
  r: Recorder<RowsLive | 'inv_token_count'>,
  t: ActorTensors,
  ws: Workspace,
  layer: number,
): void {
  loadRows(r, t.batch, ws)
  forward(r, t.model, ws, { layers: layer, count: tokens })
  readPolicy(r, t.model, ws, { layer, inv_temperature: 1, count: tokens })
  const { log_probs, response_mask, d_log_probs, d_entropy } = ws.response
  r.run(
    sft_loss,
    { tokens: ws.rows * ws.response_length, inv_token_count: (live) => live.inv_token_count },
    { log_probs, response_mask, d_log_probs, d_entropy, sums: t.sums },
  )
  findBrokenToken(r, t, ws)
  backward(r, t.model, t.gradients, ws, { layer, inv_temperature: 1, count: tokens })
}

/** Keeps the first token of the step, or of an epoch's slot, whose log-prob is not finite; to be
 * recorded once the micro-batch has been read. */
export function findBrokenToken<L extends string>(
  r: Pick<Recorder<L | 'row'>, 'run'>,
  t: Pick<ActorTensors, 'nonfinite_token'>,
  { response: { log_probs, response_mask } }: Workspace,
  slot: Value<L | 'row'> = 0,
): void {
  const [rows, R] = log_probs.shape
  r.run(
    find_nonfinite_token,
    { count: rows * R, first: (live) => live.row * R, slot },
    { values: log_probs, marks: response_mask, found: t.nonfinite_token },
  )
}

/** Entropy of every layer's policy on the probe's own rows (Actor.uploadProbe), summed over their
 * response tokens. */
export function recordProbe(
  alloc: Allocator,
  r: Recorder<'tokens'>,
  t: ActorTensors,
  size: ActorSize,
): void {
  const ws = t.probe
  const stride = probeStride(size)
  const layers = t.model.shape.num_hidden_layers
  const read = (l: number) => {
    const shape = [ws.rows, ws.response_length]
    const entropy = alloc.view(t.probe_entropy, `probe_entropy.${l}`, l * stride, shape)
    readPolicy(r, t.model, ws, { layer: l, inv_temperature: 1, count: tokens }, { entropy })
  }
  forward(r, t.model, ws, { layers, onHidden: read, count: tokens })
  const tensors = { values: t.probe_entropy, mask: t.probe_mask, sums: t.probe_sums }
  r.run(masked_sum, { count: stride, sets: layers + 1 }, tensors)
}
