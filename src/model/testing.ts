// Makes small models and padded batches for tests.

import type { Allocator, Tensor } from '../kernels/device/base/tensor.ts'
import type { Gpu } from '../kernels/device/gpu.ts'
import { randomValues } from '../kernels/testing.ts'
import { type ModelConfig, modelShape } from './layout/config.ts'
import { type Head, type ParamLayout, paramLayout, unpackWeights } from './layout/params.ts'
import { createParamBuffers, type ParamBuffers } from './params/param_buffers.ts'
import { type ParamGradients, paramGradients } from './params/param_tensors.ts'
import { createModel, type Model, uploadModel } from './transformer/model.ts'

/** A tiny Qwen3: grouped-query attention, head_dim ≠ hidden_size / heads, no side equal to
 * another. */
export const TINY: ModelConfig = {
  model_type: 'qwen3',
  vocab_size: 11,
  hidden_size: 20,
  intermediate_size: 28,
  num_hidden_layers: 3,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 8,
  rms_norm_eps: 1e-6,
  rope_theta: 100,
  tie_word_embeddings: true,
}

/** Every architecture and head that the model supports. */
export const CONFIGS: readonly ModelConfig[] = [
  TINY,
  { ...TINY, tie_word_embeddings: false, num_key_value_heads: 4 },
  { ...TINY, model_type: 'qwen2', head_dim: 6 },
  { ...TINY, model_type: 'llama', num_key_value_heads: 1, tie_word_embeddings: false },
]

/** Named arrays (Hugging Face names) to the flat layout. Throws RangeError naming a missing or
 * misshapen one. */
export function packWeights(
  layout: ParamLayout,
  named: Readonly<Record<string, ArrayLike<number>>>,
): Float32Array {
  const flat = new Float32Array(layout.size)
  for (const { name, shape, offset, size } of layout.params) {
    const values = named[name]
    if (values?.length !== size)
      throw new RangeError(
        `${name}: expected [${shape}] = ${size} values, got ${values?.length ?? 'none'}`,
      )
    flat.set(values, offset)
  }
  return flat
}

/** Seeded weights of O(1) activations, in the flat layout and by name in float64. */
export function testWeights(config: ModelConfig, seed: number, head: Head = 'lm_head') {
  const layout: ParamLayout = paramLayout(modelShape(config), head)
  const named = Object.fromEntries(
    layout.params.map(({ name, size, shape, init }, i) => {
      const centre = 'fill' in init ? init.fill : 0
      const spread = 'fill' in init ? 0.3 : 1.5 / Math.sqrt(shape[1])
      return [name, randomValues(size, seed + i).map((x) => centre + spread * x)]
    }),
  )
  const flat = packWeights(layout, named)
  const exact = Object.fromEntries(
    Object.entries(unpackWeights(layout, flat)).map(([name, x]) => [name, Float64Array.from(x)]),
  )
  return { layout, flat, exact }
}

/** A model on a device. */
export function testModel(
  gpu: Gpu,
  layout: ParamLayout,
  weights: Float32Array,
  options: Pick<Model, 'matmul' | 'fusion'> = {},
): Model {
  const model = createModel(gpu, layout, 'all', options)
  uploadModel(gpu, model, weights)
  return model
}

/** Room for the gradients of all weights. */
export const testGradients = (alloc: Allocator, layout: ParamLayout): ParamGradients =>
  paramGradients(alloc, layout, createParamBuffers(alloc, layout, 'gradients', 'gradients'))

/** The only buffer of a small model's weights or gradients. */
export const flatOf = ({ buffers }: { readonly buffers: ParamBuffers }): Tensor<'f32'> =>
  buffers.stretches[0].tensor as Tensor<'f32'>

/** Rows of different prompt and response lengths; prompts padded on `side`, responses on the
 * right. */
export function testBatch(
  lengths: readonly { readonly prompt: number; readonly response: number }[],
  { P, R, vocab_size, seed }: { P: number; R: number; vocab_size: number; seed: number },
  side: 'left' | 'right' = 'left',
) {
  const rows = lengths.length
  const width = P + R
  const ids = randomValues(rows * width, seed).map(
    (x) => 2 + Math.floor(((x + 1) / 2) * (vocab_size - 2)),
  )
  const input_ids = new Uint32Array(rows * width)
  const attention_mask = new Uint32Array(rows * width)
  const position_ids = new Uint32Array(rows * width)
  const response_ids = new Uint32Array(rows * R)
  const response_mask = new Float32Array(rows * R)
  lengths.forEach(({ prompt, response }, b) => {
    const start = side === 'left' ? P - prompt : 0
    let position = -1
    for (let c = 0; c < width; c++) {
      const real = (c >= start && c < start + prompt) || (c >= P && c < P + response)
      // The token drawn depends on its place in the sequence, not on the padding before it.
      position += real ? 1 : 0
      attention_mask[b * width + c] = real ? 1 : 0
      position_ids[b * width + c] = Math.max(0, position)
      input_ids[b * width + c] = real ? ids[b * width + position] : 0
    }
    for (let t = 0; t < R; t++) {
      response_ids[b * R + t] = input_ids[b * width + P + t]
      response_mask[b * R + t] = t < response ? 1 : 0
    }
  })
  return { rows, width, P, R, input_ids, attention_mask, position_ids, response_ids, response_mask }
}
