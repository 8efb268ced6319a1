// Holds a rollout of one size, and the sum of the entropies it sampled with.

import type { Program } from '../../../kernels/device/base/dispatch_table.ts'
import type { Allocator, Tensor } from '../../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../../kernels/device/gpu.ts'
import { masked_sum } from '../../../kernels/metrics/metrics.ts'
import type { ModelShape } from '../../../model/layout/config.ts'
import { Rollout } from '../../../model/rollout/rollout.ts'
import { decodedColumns, type RolloutSize } from '../../../model/rollout/rollout_inputs.ts'
import {
  createRolloutTensors,
  type RolloutTensors,
} from '../../../model/rollout/rollout_tensors.ts'
import { type TurnResponses, writtenColumns } from '../../../model/rollout/rollout_turns.ts'
import type { Model } from '../../../model/transformer/model.ts'
import type { Tokenizer } from '../../../tasks/tokenizers/tokenizer.ts'

interface SamplerTensors {
  readonly rollout: RolloutTensors
  /** Σ entropy over all response tokens, [1], nats. */
  readonly entropy_sum: Tensor<'f32'>
  /** 1 where a decoded column counts; [B · columns]. */
  readonly counted: Tensor<'f32'>
}

/** Allocates a rollout of this size and what sums its entropies. */
export function createSamplerTensors(
  alloc: Allocator,
  shape: ModelShape,
  size: RolloutSize,
): SamplerTensors {
  const count = size.rows * decodedColumns(size)
  return {
    rollout: createRolloutTensors(alloc, shape, size),
    entropy_sum: alloc.tensor('rollout.entropy_sum', 'f32', [1], { kind: 'batch' }),
    counted: alloc.tensor('rollout.counted', 'f32', [count], { kind: 'batch' }),
  }
}

export class Sampler {
  readonly rollout: Rollout
  readonly entropy_sum: Tensor<'f32'>
  #gpu: Gpu
  #counted: Tensor<'f32'>
  #sum: Program<never>

  private constructor(
    gpu: Gpu,
    rollout: Rollout,
    { entropy_sum, counted }: Pick<SamplerTensors, 'entropy_sum' | 'counted'>,
    sum: Program<never>,
  ) {
    this.#gpu = gpu
    this.rollout = rollout
    this.entropy_sum = entropy_sum
    this.#counted = counted
    this.#sum = sum
  }

  /** `stopTokenIds` end a turn beside the end token, where rows have several. */
  static async create(
    gpu: Gpu,
    model: Model,
    size: RolloutSize,
    tokenizer: Tokenizer,
    stopTokenIds: readonly number[] = [],
  ): Promise<Sampler> {
    const tensors = createSamplerTensors(gpu, model.shape, size)
    const { counted, entropy_sum } = tensors
    const [count] = counted.shape
    // A finished row's entropy is 0, so every value counts.
    gpu.write(counted, new Float32Array(count).fill(1))
    const { eos_token_ids, pad_token_id } = tokenizer
    const stops = tensors.rollout.forced ? stopTokenIds : []
    const special = { eos_token_ids: [...eos_token_ids, ...stops], pad_token_id }
    const rollout = await Rollout.create(gpu, model, size, tensors.rollout, { special })
    const sum = await gpu.record('rollout_entropy', [], (r) => {
      const values = tensors.rollout.entropy
      r.run(masked_sum, { count, sets: 1 }, { values, mask: counted, sums: entropy_sum })
    })
    return new Sampler(gpu, rollout, tensors, sum)
  }

  /** Of a batch with several turns: which of the columns are of its responses. Others hold what was
   * sampled for nothing. */
  count(placed: TurnResponses): void {
    this.#gpu.write(this.#counted, writtenColumns(placed, this.rollout.size))
  }

  /** Encodes the sum over the last rollout into entropy_sum. */
  sumEntropy(): void {
    this.#gpu.replay(this.#sum)
  }
}
