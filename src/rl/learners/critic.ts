// Holds the value model of PPO: its own copy of the transformer with one number per token, and its
// own optimizer.

import type { Program } from '../../kernels/device/base/dispatch_table.ts'
import type { Recorder } from '../../kernels/device/base/program.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import {
  LOSS_AGG_MODES,
  type LossAggMode,
} from '../../kernels/policy_loss/aggregations/aggregations.ts'
import { loss_weights } from '../../kernels/policy_loss/loss_weights.ts'
import { value_loss } from '../../kernels/value_loss/value_loss.ts'
import { type ParamLayout, sharedRuns } from '../../model/layout/params.ts'
import { copyParams, writeParams } from '../../model/params/param_copies.ts'
import type { ParamTensors } from '../../model/params/param_tensors.ts'
import { forward } from '../../model/transformer/transformer.ts'
import { backwardValues, readValues } from '../../model/transformer/value.ts'
import { sliceWorkspace, type Workspace } from '../../model/transformer/workspace.ts'
import type { Critic as CriticConfig } from '../config/critic.ts'
import type { Optim } from '../config/optim.ts'
import { type RolloutBatch, sequenceCount, tokenCount } from '../experience/batch.ts'
import type { TrainingBatch } from '../experience/training_batch.ts'
import type { RowOrder } from '../math/shuffle.ts'
import type { BatchRows } from './base/batch_rows.ts'
import { laidOut, recordGather, type ShuffledBatch } from './base/shuffled_batch.ts'
import type { CriticTensors } from './critic_tensors.ts'
import { loadColumns, loadRows, type RowsLive, storeRows, tokens } from './programs.ts'
import { Trainable } from './trainable.ts'

const UPDATE_LIVE = [
  'row',
  'tokens',
  'token_count',
  'sequence_count',
  'loss_scale_factor',
  'scale',
  'cliprange_value',
] as const
type UpdateLive = (typeof UPDATE_LIVE)[number]

const scoreOffset = ({ slices, size }: ParamLayout) => slices.score?.offset ?? size

/** How micro-batches add up: by verl's legacy worker or by whole counts. Columns a response may
 * fill; 0 = all there are. */
export interface MicroRule {
  readonly isLegacy: boolean
  readonly max_response_length: number
}

/** How an update goes through its batch; `order` is that of each epoch's rows, where a phase
 * shuffles them. */
interface CriticPasses {
  readonly epochs: number
  readonly lr: number
  readonly order?: RowOrder | undefined
}

const updateKey = (micro: number, loss_agg_mode: LossAggMode, isShuffled: boolean): string =>
  `${micro}/${loss_agg_mode}${isShuffled ? '/shuffled' : ''}`

/** The actor's batch, and a workspace of the same shape with gradients. */
export interface CriticShared {
  readonly batch: TrainingBatch
  readonly workspace: Workspace
  /** Where a phase shuffles the rows of its epochs. */
  readonly shuffled?: ShuffledBatch | undefined
}

/** The critic. It is updated before the actor, on the same batch; epochs and mini-batches may be
 * its own (criticPasses). */
export class Critic {
  readonly tensors: CriticTensors
  readonly trainable: Trainable
  #gpu: Gpu
  #batch: TrainingBatch
  #workspace: Workspace
  #shuffled: ShuffledBatch | undefined
  /** Brings values and returns into the order of an epoch. */
  #gather: Program<never> | undefined
  /** The score as it was at first, with what lies behind it in the flat layout. */
  #score: Float32Array
  #values = new Map<number, Program<RowsLive>>()
  #update = new Map<string, Program<UpdateLive>>()

  private constructor(
    gpu: Gpu,
    tensors: CriticTensors,
    trainable: Trainable,
    shared: CriticShared,
    score: Float32Array,
  ) {
    this.#gpu = gpu
    this.#score = score
    this.tensors = tensors
    this.trainable = trainable
    this.#batch = shared.batch
    this.#workspace = shared.workspace
    this.#shuffled = shared.shuffled
  }

  /** `layout` has a value head; `shared` are the actor's batch and a workspace with gradients for
   * the same shape. */
  static async create(
    gpu: Gpu,
    layout: ParamLayout,
    tensors: CriticTensors,
    shared: CriticShared,
    weights: Float32Array,
  ): Promise<Critic> {
    const trainable = await Trainable.load(gpu, layout, tensors, weights)
    await trainable.prepare(layout.shape.num_hidden_layers)
    const score = weights.slice(scoreOffset(layout))
    return new Critic(gpu, tensors, trainable, shared, score)
  }

  /** Records what batches of `micro` rows need. */
  async prepare(
    micro: number,
    loss_agg_mode: LossAggMode,
    isShuffled = false,
    optim?: Optim,
  ): Promise<void> {
    await this.trainable.prepare(this.trainable.layout.shape.num_hidden_layers, optim)
    const ws = sliceWorkspace(this.#gpu, this.#workspace, micro)
    if (!this.#values.has(micro))
      this.#values.set(
        micro,
        await this.#gpu.record('values', ['row', 'tokens'], (r) => this.#recordValues(r, ws)),
      )
    if (isShuffled) this.#gather ??= await this.#recordGather()
    const key = updateKey(micro, loss_agg_mode, isShuffled)
    if (!this.#update.has(key))
      this.#update.set(
        key,
        await this.#gpu.record('update_critic', UPDATE_LIVE, (r) =>
          this.#recordUpdate(r, ws, loss_agg_mode, isShuffled),
        ),
      )
  }

  #recordGather(): Promise<Program<never>> {
    const { values, returns, shuffled: to } = this.tensors
    const order = this.#shuffled?.tensors.order
    if (!to || !order) throw new Error('critic: no room was made for shuffled batches')
    return this.#gpu.record('shuffle_critic', [], (r) => {
      recordGather(r, order, values, to.values)
      recordGather(r, order, returns, to.returns)
    })
  }

  #recordValues(r: Recorder<RowsLive>, ws: Workspace): void {
    const { model, values } = this.tensors
    const { vpreds } = ws.response
    loadRows(r, this.#batch.tensors, ws)
    forward(r, model, ws, { layers: model.shape.num_hidden_layers, count: tokens })
    readValues(r, model, ws, { values: vpreds, count: tokens })
    storeRows(r, vpreds, values)
  }

  #recordUpdate(
    r: Recorder<UpdateLive>,
    ws: Workspace,
    loss_agg_mode: LossAggMode,
    isShuffled: boolean,
  ): void {
    const { model, gradients, value_sums: sums } = this.tensors
    const { response_mask, rollout_is_weights, vpreds, d_vpreds, values, returns } = ws.response
    const { token_weights, loss_weights: weights, pg_weights } = ws.response
    const columns = (isShuffled ? this.tensors.shuffled : undefined) ?? this.tensors
    loadRows(r, this.#updated(isShuffled).tensors, ws)
    loadColumns(r, columns, ws.response, ['values', 'returns'])
    forward(r, model, ws, { layers: model.shape.num_hidden_layers, count: tokens })
    readValues(r, model, ws, { values: vpreds, count: tokens })
    const mode = LOSS_AGG_MODES.indexOf(loss_agg_mode)
    r.run(
      loss_weights,
      {
        rows: ws.rows,
        response_length: ws.response_length,
        loss_agg_mode: mode,
        pg_agg_mode: mode,
        token_count: (live) => live.token_count,
        sequence_count: (live) => live.sequence_count,
        loss_scale_factor: (live) => live.loss_scale_factor,
        scale: (live) => live.scale,
        ranks: 1,
      },
      { response_mask, rollout_is_weights, token_weights, loss_weights: weights, pg_weights },
    )
    r.run(
      value_loss,
      { tokens: ws.rows * ws.response_length, cliprange_value: (live) => live.cliprange_value },
      { vpreds, values, returns, token_weights, loss_weights: weights, d_vpreds, sums },
    )
    backwardValues(r, model, gradients, ws, { d_values: d_vpreds, count: tokens })
  }

  /** Starts over as a copy of another model's transformer, with a new optimizer: under that model's
   * score where it has one, else under the first one. The bias is the first in any case: what
   * verl's critic has when its path is that of a reward model. */
  begin({ buffers: from }: Pick<ParamTensors, 'buffers'>, modelLayout: ParamLayout): void {
    const { layout } = this.trainable
    const to = this.tensors.weights
    writeParams(this.#gpu, to, this.#score, scoreOffset(layout))
    copyParams(this.#gpu, from, to, sharedRuns(modelLayout, layout))
    const [theirs, ours] = [modelLayout.slices.score, layout.slices.score]
    if (theirs && ours) {
      const count = layout.shape.hidden_size
      const run = { fromOffset: theirs.offset, toOffset: ours.offset, count }
      copyParams(this.#gpu, from, to, [run])
    }
    this.trainable.resetOptimizer()
  }

  /** Zeroes the sums of this training step. */
  beginStep(): void {
    this.trainable.beginStep()
    this.#gpu.clear(this.tensors.value_sums)
  }

  /** V of the uploaded batch, times response_mask: fills tensors.values. */
  computeValues(rows: BatchRows): void {
    const program = prepared(this.#values.get(rows.micro))
    for (let row = 0; row < rows.batch; row += rows.micro)
      this.#gpu.replay(program, { row, tokens: this.#batch.tokens(row, rows.micro) })
  }

  /** The batch that updates read. */
  #updated(isShuffled: boolean): TrainingBatch {
    return isShuffled && this.#shuffled ? this.#shuffled.batch : this.#batch
  }

  /** All mini-batches with a token, and epochs, on `returns` [B, R]; returns the number of
   * optimizer steps. */
  update(
    batch: RolloutBatch,
    returns: Float32Array,
    config: CriticConfig,
    rows: BatchRows,
    { epochs, lr, order, ...rule }: MicroRule & CriticPasses,
  ): number {
    const layer = this.trainable.layout.shape.num_hidden_layers
    this.#gpu.write(this.tensors.returns, returns)
    for (let epoch = 0; epoch < epochs; epoch++) {
      const passed = laidOut(batch, this.#shuffled, order?.(epoch), rows.micro)
      if (order) this.#gpu.replay(prepared(this.#gather))
      for (let first = 0; first < rows.batch; first += rows.mini) {
        if (tokenCount(passed, first, rows.mini) === 0) continue
        this.trainable.clearGradients()
        this.accumulate(passed, config, rows, { first, isShuffled: order !== undefined }, rule)
        this.trainable.apply(layer, config.optim, config.grad_clip, lr)
      }
    }
    return this.trainable.updates
  }

  /** Adds the gradients of the mini-batch that starts at row `first`. verl's engine worker sums the
   * means of its micro-batches; here, as in its legacy worker, they are averaged, or divided by the
   * whole mini-batch's counts. */
  accumulate(
    batch: RolloutBatch,
    { cliprange_value, loss_agg_mode }: Pick<CriticConfig, 'cliprange_value' | 'loss_agg_mode'>,
    { mini, micro }: BatchRows,
    { first, isShuffled = false }: { readonly first: number; readonly isShuffled?: boolean },
    { isLegacy, max_response_length }: MicroRule,
  ): void {
    const update = prepared(this.#update.get(updateKey(micro, loss_agg_mode, isShuffled)))
    const token_count = isLegacy ? 0 : tokenCount(batch, first, mini)
    const sequence_count = isLegacy ? 0 : sequenceCount(batch, first, mini)
    const scale = isLegacy ? micro / mini : 1
    const counts = { token_count, sequence_count, loss_scale_factor: max_response_length, scale }
    for (let row = first; row < first + mini; row += micro)
      this.#gpu.replay(update, {
        row,
        tokens: this.#updated(isShuffled).tokens(row, micro),
        ...counts,
        cliprange_value,
      })
  }
}

function prepared<L extends string>(program: Program<L> | undefined): Program<L> {
  if (!program) throw new Error('critic: batches of this size were not prepared')
  return program
}
