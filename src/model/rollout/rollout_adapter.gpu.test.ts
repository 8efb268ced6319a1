// Responses of a model with an adapter or vectors on: their log-probs are those of the float64
// model, of every architecture.
import { expect, test } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import { expectClose, randomValues } from '../../kernels/testing.ts'
import type { LoraConfig } from '../layout/config.ts'
import { loraScale } from '../layout/lora.ts'
import { writeParams } from '../params/param_copies.ts'
import { CONFIGS, TINY, testBatch, testModel, testWeights } from '../testing.ts'
import { policyRef } from '../transformer/policy.ref.ts'
import { forwardRef } from '../transformer/transformer.ref.ts'
import { Rollout } from './rollout.ts'
import { createRolloutTensors } from './rollout_tensors.ts'

const gpu = await Gpu.open()
const [P, R] = [4, 5]
const LENGTHS = [4, 1, 3].map((prompt) => ({ prompt, response: 0 }))
const SIZE = { rows: LENGTHS.length, prompt_length: P, response_length: R }
const SAMPLED = {
  temperature: 1.3,
  top_k: null,
  top_p: 1,
  seed: 1,
  stream: 0,
  step: 0,
  row_offset: 0,
}
const ALL: LoraConfig = {
  r: 3,
  lora_alpha: 6,
  use_rslora: false,
  target_modules: 'all-linear',
  layers_to_transform: null,
}

test.for([
  ...CONFIGS.map((config) => [config.model_type, { ...config, lora: ALL }] as const),
  ['of two modules', { ...TINY, lora: { ...ALL, target_modules: ['q_proj', 'up_proj'] } }] as const,
  ['vectors', { ...TINY, steering_vectors: { layers: [0, 1, 3] } }] as const,
  ['vectors after every block', { ...TINY, steering_vectors: { layers: null } }] as const,
])('%s', async ([, config]) => {
  const { layout, flat, exact } = testWeights(config, 1)
  const model = testModel(gpu, layout, flat)
  if (!model.adapter) throw new Error('no adapter')
  const { layout: own, buffers } = model.adapter
  const values = Float32Array.from(randomValues(own.size, 11), (x) => 0.4 * x)
  writeParams(gpu, buffers, values)
  const tensors = createRolloutTensors(gpu, layout.shape, SIZE)
  const special = { eos_token_ids: [1], pad_token_id: 0 }
  const rollout = await Rollout.create(gpu, model, SIZE, tensors, { special })
  const prompts = testBatch(LENGTHS, { P, R: 0, vocab_size: TINY.vocab_size, seed: 11 })
  await rollout.generate(prompts, SAMPLED)
  const [ids, logProbs, mask] = await gpu.read(
    rollout.tensors.response_ids,
    rollout.tensors.log_probs,
    rollout.tensors.attention_mask,
  )
  const width = P + R
  const rows = LENGTHS.length
  const input_ids = new Uint32Array(rows * width)
  const position_ids = new Uint32Array(rows * width)
  const response_mask = new Float32Array(rows * R)
  for (let b = 0; b < rows; b++) {
    input_ids.set(prompts.input_ids.subarray(b * P, (b + 1) * P), b * width)
    input_ids.set(ids.subarray(b * R, (b + 1) * R) as Uint32Array, b * width + P)
    for (let c = 0, seen = 0; c < width; c++) {
      position_ids[b * width + c] = Math.max(0, seen - 1 + mask[b * width + c])
      seen += mask[b * width + c]
      if (c >= P) response_mask[b * R + c - P] = mask[b * width + c]
    }
  }
  const batch = { rows, width, input_ids, position_ids, attention_mask: mask as Uint32Array }
  const factors = Object.fromEntries(
    own.params.map(({ name, offset, size }) => [
      name,
      Float64Array.from(values.subarray(offset, offset + size)),
    ]),
  )
  const adapter = {
    factors,
    scaleOf: () => ('lora' in config && config.lora ? loraScale(config.lora) : 1),
  }
  const cache = forwardRef(config, exact, batch, { adapter })
  const truth = policyRef(config, exact, cache, config.num_hidden_layers, {
    response_ids: ids as Uint32Array,
    response_mask,
    first_column: P - 1,
    response_length: R,
    temperature: SAMPLED.temperature,
  })
  expect(response_mask.reduce((a, b) => a + b)).toBeGreaterThan(rows)
  expectClose(
    Float64Array.from(logProbs, (x, i) => x * response_mask[i]),
    truth.log_probs,
    { atol: 3e-5, rtol: 3e-5 },
  )
})
