// Puts the batch of a training step in the order of one epoch, for phases that shuffle its rows.

import type { Program } from '../../../kernels/device/base/dispatch_table.ts'
import type { Recorder } from '../../../kernels/device/base/program.ts'
import type { Allocator, Tensor } from '../../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../../kernels/device/gpu.ts'
import { embedding_forward } from '../../../kernels/embedding/embedding.ts'
import { chosenRows, lengthMask, type RolloutBatch } from '../../experience/batch.ts'
import {
  type BatchSize,
  type BatchTensors,
  createBatchTensors,
  TrainingBatch,
} from '../../experience/training_batch.ts'

export interface ShuffledTensors {
  readonly batch: BatchTensors
  /** Row of the batch at each place, u32 [B]. */
  readonly order: Tensor<'u32'>
}

/** Allocates a batch beside the one that is shuffled. */
export const createShuffledTensors = (alloc: Allocator, size: BatchSize): ShuffledTensors => ({
  batch: createBatchTensors(alloc, size, 'shuffled'),
  order: alloc.tensor('shuffled.order', 'u32', [size.rows], { kind: 'batch' }),
})

/** What an update reads of a batch and was computed on the GPU. */
const COLUMNS = ['advantages', 'old_log_probs', 'ref_log_prob', 'rollout_is_weights'] as const

/** to[i, :] = from[order[i], :] for [B, R]: a look-up in a table of B rows. */
export function recordGather(
  r: Pick<Recorder<never>, 'run'>,
  order: Tensor,
  from: Tensor,
  to: Tensor,
): void {
  const [tokens, hidden_size] = from.shape
  r.run(
    embedding_forward,
    { tokens, hidden_size, first_id: 0, ids: tokens },
    { input_ids: order, weight: from, out: to },
  )
}

/** A batch whose rows have another order in every epoch. */
export class ShuffledBatch {
  readonly tensors: ShuffledTensors
  readonly batch: TrainingBatch
  #gpu: Gpu
  #gather: Program<never>

  private constructor(
    gpu: Gpu,
    tensors: ShuffledTensors,
    gather: Program<never>,
    useRemovePadding: boolean,
  ) {
    this.#gpu = gpu
    this.tensors = tensors
    this.batch = new TrainingBatch(gpu, tensors.batch, useRemovePadding)
    this.#gather = gather
  }

  /** `from`: the batch that is shuffled. */
  static async create(
    gpu: Gpu,
    tensors: ShuffledTensors,
    from: BatchTensors,
    useRemovePadding: boolean,
  ): Promise<ShuffledBatch> {
    const gather = await gpu.record('shuffle', [], (r) => {
      for (const name of COLUMNS) recordGather(r, tensors.order, from[name], tensors.batch[name])
    })
    return new ShuffledBatch(gpu, tensors, gather, useRemovePadding)
  }

  /** Lays the uploaded `batch` out in this order, in micro-batches of `micro` rows; returns its
   * rows in it. */
  lay(batch: RolloutBatch, order: readonly number[], micro: number): RolloutBatch {
    const shuffled = chosenRows(batch, order)
    // What rejection took out is scored all the same, as it is in a batch that is not shuffled.
    const whole = lengthMask(shuffled.response_lengths, batch.response_length)
    this.batch.upload({ ...shuffled, response_mask: whole }, micro)
    this.#gpu.write(this.tensors.batch.response_mask, shuffled.response_mask)
    const [rows] = this.tensors.order.shape
    // Batches of other phases may have more rows; theirs stay where they are.
    const places = Uint32Array.from({ length: rows }, (_, i) => order[i] ?? i)
    this.#gpu.write(this.tensors.order, places)
    this.#gpu.replay(this.#gather)
    return shuffled
  }
}

/** The batch as an epoch goes through it: in its own order, or in this one. */
export const laidOut = (
  batch: RolloutBatch,
  shuffled: ShuffledBatch | undefined,
  order: readonly number[] | undefined,
  micro: number,
): RolloutBatch => (shuffled && order ? shuffled.lay(batch, order, micro) : batch)
