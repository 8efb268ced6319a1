// A rollout of one size, and the sum of the entropies it sampled with.

import type { Gpu } from '../../../kernels/device/gpu.ts'
import type { Program } from '../../../kernels/device/program.ts'
import type { Allocator, Tensor } from '../../../kernels/device/tensor.ts'
import { masked_sum } from '../../../kernels/metrics/metrics.ts'
import type { ModelShape } from '../../../model/params/config.ts'
import { Rollout } from '../../../model/rollout/rollout.ts'
import type { RolloutSize } from '../../../model/rollout/rollout_inputs.ts'
import {
  createRolloutTensors,
  type RolloutTensors,
} from '../../../model/rollout/rollout_tensors.ts'
import type { Model } from '../../../model/transformer/model.ts'
import type { Tokenizer } from '../../../tasks/task.ts'

interface SamplerTensors {
  readonly rollout: RolloutTensors
  /** Σ entropy over all response tokens, [1], nats. */
  readonly entropy_sum: Tensor<'f32'>
  readonly ones: Tensor<'f32'>
}

/** Allocates a rollout of this size and what sums its entropies. */
export function createSamplerTensors(
  alloc: Allocator,
  shape: ModelShape,
  size: RolloutSize,
): SamplerTensors {
  const count = size.rows * size.response_length
  return {
    rollout: createRolloutTensors(alloc, shape, size),
    entropy_sum: alloc.tensor('rollout.entropy_sum', 'f32', [1], { kind: 'batch' }),
    ones: alloc.tensor('rollout.ones', 'f32', [count], { kind: 'batch' }),
  }
}

export class Sampler {
  readonly rollout: Rollout
  readonly entropy_sum: Tensor<'f32'>
  #gpu: Gpu
  #sum: Program<never>

  private constructor(gpu: Gpu, rollout: Rollout, entropy_sum: Tensor<'f32'>, sum: Program<never>) {
    this.#gpu = gpu
    this.rollout = rollout
    this.entropy_sum = entropy_sum
    this.#sum = sum
  }

  static async create(
    gpu: Gpu,
    model: Model,
    size: RolloutSize,
    tokenizer: Tokenizer,
  ): Promise<Sampler> {
    const tensors = createSamplerTensors(gpu, model.shape, size)
    const { ones, entropy_sum } = tensors
    const [count] = ones.shape
    // A finished row's entropy is 0, so every value counts.
    gpu.write(ones, new Float32Array(count).fill(1))
    const rollout = await Rollout.create(gpu, model, size, tensors.rollout, tokenizer)
    const sum = await gpu.record('rollout_entropy', [], (r) => {
      const values = tensors.rollout.entropy
      r.run(masked_sum, { count, sets: 1 }, { values, mask: ones, sums: entropy_sum })
    })
    return new Sampler(gpu, rollout, entropy_sum, sum)
  }

  /** Encodes the sum over the last rollout into entropy_sum. */
  sumEntropy(): void {
    this.#gpu.replay(this.#sum)
  }
}
