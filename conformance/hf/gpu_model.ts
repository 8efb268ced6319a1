// The model of a case on the GPU.
import type { Gpu } from '../../src/kernels/device/gpu.ts'
import { createModel, type Model, uploadModel } from '../../src/model/transformer/model.ts'
import type { ModelCase } from './model_case.ts'

/** Weights and rotary frequencies, uploaded. */
export function uploadCase(
  { model, matmul }: Pick<ModelCase, 'model' | 'matmul'>,
  gpu: Gpu,
): Model {
  const made = createModel(gpu, model.layout, 'none', { matmul })
  uploadModel(gpu, made, model.weights)
  return made
}
