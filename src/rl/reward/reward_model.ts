// Holds a reward model: one score per sequence, trained on pairs of which one response was
// preferred.

import type { Program } from '../../kernels/device/base/dispatch_table.ts'
import type { Allocator, Tensor } from '../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import type { MatmulChoice } from '../../kernels/matmul/matmul_variants.ts'
import {
  bradley_terry_loss,
  PREFERENCE_LOSS_SUMS,
} from '../../kernels/preference_loss/preference_loss.ts'
import type { ParamLayout } from '../../model/layout/params.ts'
import { forward } from '../../model/transformer/transformer.ts'
import {
  backwardScores,
  createScoreTensors,
  lastStates,
  readScores,
  type ScoreTensors,
} from '../../model/transformer/value.ts'
import { createWorkspace, type Workspace } from '../../model/transformer/workspace.ts'
import type { Optim } from '../config/optim.ts'
import { createTrainableTensors, Trainable, type TrainableTensors } from '../learners/trainable.ts'

/** Sequences of ids; all three arrays are [rows, width]. Of a pair, row i is chosen and row rows /
 * 2 + i rejected. */
export interface Sequences {
  readonly input_ids: Uint32Array
  readonly attention_mask: Uint32Array
  readonly position_ids: Uint32Array
  /** Row of the states that each sequence is scored at, [rows]; absent = as `lastRows` finds it. */
  readonly last_rows?: Uint32Array
}

/** Row of the states that each sequence is scored at: its right-most token that is not padding, as
 * Hugging Face's ForSequenceClassification picks it (by id, whatever attention_mask says). A row of
 * padding alone is scored at column 0. */
export function lastRows(input_ids: Uint32Array, width: number, padTokenId: number): Uint32Array {
  return Uint32Array.from({ length: input_ids.length / width }, (_, b) => {
    let column = width - 1
    while (column > 0 && input_ids[b * width + column] === padTokenId) column--
    return b * width + column
  })
}

export interface RewardModelTensors extends TrainableTensors {
  readonly workspace: Workspace
  readonly score: ScoreTensors
  /** PREFERENCE_LOSS_SUMS since the gradients were cleared. */
  readonly sums: Tensor
}

/** `rows` sequences of `width` columns at a time, and the kernels of the linear layers where they
 * are not the default ones. */
export interface RewardModelSize {
  readonly rows: number
  readonly width: number
  readonly matmul?: MatmulChoice | undefined
  /** Whether a phase trains it by Muon. Default false. */
  readonly hasMuon?: boolean
}

/** Allocates a reward model. */
export function createRewardModelTensors(
  alloc: Allocator,
  layout: ParamLayout,
  { rows, width, matmul, hasMuon = false }: RewardModelSize,
): RewardModelTensors {
  const { shape } = layout
  return {
    ...createTrainableTensors(alloc, layout, { updates: 1, hasMuon }, { matmul }),
    workspace: createWorkspace(alloc, shape, { rows, width, response_length: 1, trains: true }),
    score: createScoreTensors(alloc, rows),
    sums: alloc.tensor('reward_model.sums', 'f32', [PREFERENCE_LOSS_SUMS.length]),
  }
}

export class RewardModel {
  readonly tensors: RewardModelTensors
  readonly trainable: Trainable
  #gpu: Gpu
  #padTokenId: number
  #score: Program<never>
  #update: Program<'inv_pairs'>

  private constructor(
    gpu: Gpu,
    tensors: RewardModelTensors,
    trainable: Trainable,
    padTokenId: number,
    programs: { score: Program<never>; update: Program<'inv_pairs'> },
  ) {
    this.#gpu = gpu
    this.tensors = tensors
    this.trainable = trainable
    this.#padTokenId = padTokenId
    this.#score = programs.score
    this.#update = programs.update
  }

  /** `layout` has a reward head. Scores `rows` sequences at a time; pairs take two of them each. */
  static async create(
    gpu: Gpu,
    layout: ParamLayout,
    size: RewardModelSize,
    padTokenId: number,
    weights: Float32Array,
  ): Promise<RewardModel> {
    const tensors = createRewardModelTensors(gpu, layout, size)
    const trainable = await Trainable.load(gpu, layout, tensors, weights)
    await trainable.prepare(layout.shape.num_hidden_layers)
    const { model, workspace: ws, score: t, gradients, sums } = tensors
    const firstTokens = Uint32Array.from({ length: size.rows + 1 }, (_, b) => b * size.width)
    gpu.write(ws.cu_seqlens, firstTokens)
    const pairs = Math.floor(size.rows / 2)
    const score = await gpu.record('score', [], (r) => {
      forward(r, model, ws)
      readScores(r, model, ws, t)
    })
    const update = await gpu.record('update_reward_model', ['inv_pairs'], (r) => {
      forward(r, model, ws)
      readScores(r, model, ws, t)
      const { scores, d_scores } = t
      r.run(
        bradley_terry_loss,
        { pairs, inv_pairs: (live) => live.inv_pairs },
        { scores, d_scores, sums },
      )
      backwardScores(r, model, gradients, ws, t)
    })
    return new RewardModel(gpu, tensors, trainable, padTokenId, { score, update })
  }

  #upload({ input_ids, attention_mask, position_ids, last_rows }: Sequences): void {
    const { workspace: ws, score } = this.tensors
    this.#gpu.write(ws.input_ids, input_ids)
    this.#gpu.write(ws.attention_mask, attention_mask)
    this.#gpu.write(ws.position_ids, position_ids)
    const states = last_rows ?? lastRows(input_ids, ws.width, this.#padTokenId)
    this.#gpu.write(score.scored, lastStates(states))
  }

  /** Encodes the scores of as many sequences as were allocated: fills tensors.score.scores
   * [rows]. */
  score(sequences: Sequences): void {
    this.#upload(sequences)
    this.#gpu.replay(this.#score)
  }

  /** Encodes the Bradley–Terry gradients of rows / 2 pairs: fills tensors.gradients and
   * tensors.sums. Throws RangeError where the model was made for an odd number of rows. */
  computeGradients(pairs: Sequences): void {
    this.clearGradients()
    this.accumulate(pairs, 2 / this.tensors.workspace.rows)
  }

  /** Zeroes gradients and sums. */
  clearGradients(): void {
    this.trainable.clearGradients()
    this.#gpu.clear(this.tensors.sums)
  }

  /** Adds the gradients of rows / 2 pairs of a batch of 1 / inv_pairs. Throws as computeGradients
   * does. */
  accumulate(pairs: Sequences, inv_pairs: number): void {
    const { rows } = this.tensors.workspace
    if (rows % 2 !== 0)
      throw new RangeError(`reward model: expected an even number of rows for pairs, got ${rows}`)
    this.#upload(pairs)
    this.#gpu.replay(this.#update, { inv_pairs })
  }

  /** One optimizer step on rows / 2 pairs. */
  update(pairs: Sequences, optim: Optim, gradClip: number, lr: number): void {
    this.trainable.beginStep()
    this.computeGradients(pairs)
    this.trainable.apply(this.trainable.layout.shape.num_hidden_layers, optim, gradClip, lr)
  }
}
