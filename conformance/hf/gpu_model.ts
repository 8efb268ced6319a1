// The model of a case on the GPU.
import type { Gpu } from '../../src/kernels/device/gpu.ts'
import { inverseFrequencies } from '../../src/model/params/config.ts'
import { paramTensors } from '../../src/model/params/params.ts'
import type { Model } from '../../src/model/transformer/model.ts'
import type { ModelCase } from './model_case.ts'

/** Weights and rotary frequencies, uploaded. */
export function uploadModel(
  { model, shape, matmul }: Pick<ModelCase, 'model' | 'shape' | 'matmul'>,
  gpu: Gpu,
): Model {
  const { layout, weights } = model
  const flat = gpu.tensor('weights', 'f32', [layout.size], { data: weights })
  const data = Float32Array.from(inverseFrequencies(model.config))
  const inv_freq = gpu.tensor('inv_freq', 'f32', [data.length], { data })
  return { shape, weights: paramTensors(gpu, layout, flat), inv_freq, matmul }
}
