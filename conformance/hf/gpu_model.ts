// Makes the model of a case on the GPU.
import type { Gpu } from '../../src/kernels/device/gpu.ts'
import { createModel, exactly, type Model, uploadModel } from '../../src/model/transformer/model.ts'
import { finalNorm } from '../../src/model/transformer/policy.ts'
import { uploadRows } from '../../src/model/transformer/rows.ts'
import { forward, linear } from '../../src/model/transformer/transformer.ts'
import { createWorkspace } from '../../src/model/transformer/workspace.ts'
import type { RolloutBatch } from '../../src/rl/experience/batch.ts'
import { type ModelCase, widthOf } from './model_case.ts'

/** Weights and rotary frequencies, uploaded. */
export function uploadCase(
  { model, matmul }: Pick<ModelCase, 'model' | 'matmul'>,
  gpu: Gpu,
): Model {
  const made = createModel(gpu, model.layout, 'none', { matmul })
  uploadModel(gpu, made, model.weights)
  return made
}

/** Logits of every column, [rows, width, V]. */
export async function logitsGpu(
  gpu: Gpu,
  model: Model,
  batch: RolloutBatch,
): Promise<Float32Array> {
  const { rows, response_length } = batch
  const width = widthOf(batch)
  const { shape, weights } = model
  const ws = createWorkspace(gpu, shape, { rows, width, response_length, trains: false })
  uploadRows(gpu, ws, batch)
  const out = gpu.tensor('logits', 'f32', [rows * width, shape.vocab_size])
  const [head] = weights.lm_head
  const program = await gpu.record('logits', [], (r) => {
    forward(r, model, ws)
    finalNorm(r, model, ws, { layer: shape.num_hidden_layers })
    linear(r.run, exactly(rows * width), { x: ws.normed, weight: head.tensor, out })
  })
  gpu.replay(program)
  return (await gpu.read(out))[0]
}
