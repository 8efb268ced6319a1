// Tests the cost of an update where not everything learns: recorded without a device, and added up
// by the kernels' own costs.
import { expect, test } from 'vitest'
import {
  collect,
  type Dispatch,
  type LiveValues,
  readParams,
  setScalar,
} from '../../kernels/device/base/program.ts'
import { MemoryPlan } from '../../kernels/device/base/tensor.ts'
import { costOf } from '../../kernels/device/timing/cost.ts'
import { ownAdapter } from '../../model/layout/adapter_layout.ts'
import { type ModelConfig, modelShape } from '../../model/layout/config.ts'
import { paramLayout } from '../../model/layout/params.ts'
import { trainedGradients } from '../../model/params/param_tensors.ts'
import { trainedSegments } from '../config/ever_trained.ts'
import { type Freeze, segmentFactors } from '../config/trained_segments.ts'
import { RL } from '../testing.ts'
import { createActorTensors } from './actor_tensors.ts'
import { objectiveOf } from './objective.ts'
import { recordPass, recordUpdate, type UpdateLive } from './programs.ts'

/** SmolLM2-135M. */
const LARGE: ModelConfig = {
  model_type: 'llama',
  vocab_size: 49_152,
  hidden_size: 576,
  intermediate_size: 1536,
  num_hidden_layers: 30,
  num_attention_heads: 9,
  num_key_value_heads: 3,
  head_dim: 64,
  rms_norm_eps: 1e-5,
  rope_theta: 100_000,
  tie_word_embeddings: true,
}
const SMALL: ModelConfig = {
  ...LARGE,
  vocab_size: 26,
  hidden_size: 64,
  intermediate_size: 168,
  num_hidden_layers: 6,
  num_attention_heads: 4,
  num_key_value_heads: 4,
  head_dim: 16,
}
const [P, R, ROWS] = [64, 64, 8]

/** A dispatch's params when every row is full. */
function paramsOf({ kernel, params, patches }: Dispatch) {
  const full = { tokens: ROWS * (P + R), inv_temperature: 1 }
  const live = new Proxy(full, { get: (given, name: string) => given[name as 'tokens'] ?? 1 })
  const view = new DataView(params.slice().buffer)
  for (const { offset, dtype, value } of patches)
    setScalar(view, offset, dtype, value(live as LiveValues<string>))
  return readParams(kernel.params, view, 0)
}

/** Operations, dispatches by name, and bytes of gradients and moments, of an update of the last
 * layer's policy. */
function updateOf(model: ModelConfig, freeze?: Freeze) {
  const shape = modelShape(model)
  const target_layer = shape.num_hidden_layers
  const phase = { ...RL, target_layer, freeze }
  const layout = paramLayout(shape)
  const trained = ownAdapter(shape) ?? layout
  const plan = new MemoryPlan()
  const tensors = createActorTensors(plan, layout, {
    prompt_length: P,
    response_length: R,
    batchRows: ROWS,
    microRows: ROWS,
    updates: 1,
    probeRows: 1,
    hasReference: true,
    trains: trainedSegments(trained, [phase]),
  })
  const factors = segmentFactors(trained, phase)
  const gradients = trainedGradients(trained, tensors.gradients, factors)
  const updated = { ...tensors, gradients }
  const dispatches = collect<UpdateLive>('update', (r) => {
    recordPass(r, updated, tensors.workspace, { layer: target_layer })
    recordUpdate(r, updated, tensors.workspace, { layer: target_layer }, objectiveOf(phase))
  }).filter((command) => command.kind === 'dispatch')
  const flops = dispatches.map((one) => costOf(one.kernel, paramsOf(one))?.flops ?? 0)
  return {
    flops: flops.reduce((a, b) => a + b, 0),
    names: dispatches.map(({ kernel }) => kernel.name),
    bytes: plan.bytes,
    size: trained.size,
    /** Elements of one block. */
    block:
      trained.segment_ends[trained.first_block] - trained.segment_ends[trained.first_block - 1],
  }
}

const LORA = {
  r: 8,
  lora_alpha: 16,
  use_rslora: false,
  target_modules: 'all-linear' as const,
  layers_to_transform: null,
}
const countOf = (names: readonly string[], pattern: RegExp) =>
  names.filter((name) => pattern.test(name)).length

test('LoRA of rank 8 takes at most three quarters of the operations of training all of SmolLM2-135M', () => {
  const [whole, lora] = [updateOf(LARGE), updateOf({ ...LARGE, lora: LORA })]
  expect(lora.flops / whole.flops).toBeLessThan(0.75)
  expect(lora.flops / whole.flops).toBeGreaterThan(0.6)
  // Gradients and two moments of the adapter alone, and no second copy of the weights.
  expect(lora.bytes.gradients).toBe(4 * lora.size)
  expect(lora.size).toBeLessThan(whole.size / 50)
  expect(lora.bytes.weights).toBeLessThan(0.55 * whole.bytes.weights)
})

test('with all but one block frozen there are gradients and moments of that block alone, and no backward below it', () => {
  const frozen = [1, 2, 3, 5, 6]
  const whole = updateOf(SMALL)
  const single = updateOf(SMALL, { embed_tokens: true, layers: frozen })
  // The final norm learns too; the head is tied to the embedding.
  const norm = 64
  expect(single.bytes.gradients).toBe(4 * (single.block + norm))
  expect(whole.bytes.optimizer - single.bytes.optimizer).toBeGreaterThan(
    2 * 4 * (whole.size - single.block - norm) - 1,
  )
  const attention = /attention.*(query|key)/
  expect(countOf(whole.names, attention)).toBe(12)
  // Blocks 4, 5 and 6.
  expect(countOf(single.names, attention)).toBe(6)
  // Four products of block 4, and none of the others.
  expect(countOf(whole.names, /matmul_tn/)).toBe(24)
  expect(countOf(single.names, /matmul_tn/)).toBe(4)
  expect(countOf(single.names, /embedding_backward|vocab_head_backward_weight/)).toBe(0)
})

test('an adapter of one block stops the backward there', () => {
  const every = updateOf({ ...SMALL, lora: LORA })
  const one = updateOf({ ...SMALL, lora: { ...LORA, layers_to_transform: [3] } })
  const attention = /attention.*(query|key)/
  expect(countOf(every.names, attention)).toBe(12)
  expect(countOf(one.names, attention)).toBe(6)
  expect(one.bytes.gradients).toBe(every.bytes.gradients / 6)
  expect(one.flops).toBeLessThan(0.8 * every.flops)
})

test('steering vectors have the only gradients and moments, no gradient of a weight is computed, and nothing below the lowest of them', () => {
  const steered = (layers: readonly number[] | null) =>
    updateOf({ ...SMALL, steering_vectors: { layers } })
  const [whole, every, upper] = [updateOf(SMALL), steered(null), steered([4, 6])]
  // After each of 6 blocks, of 64 numbers.
  expect(every.bytes.gradients).toBe(4 * 6 * 64)
  expect(upper.bytes.gradients).toBe(4 * 2 * 64)
  expect(whole.bytes.optimizer - every.bytes.optimizer).toBeGreaterThan(
    2 * 4 * (whole.size - every.size) - 1,
  )
  // No second copy of the weights: the reference is the model without the vectors.
  expect(every.bytes.weights).toBeLessThan(0.55 * whole.bytes.weights)
  const ofWeights = /matmul_tn|backward_weight|weight_grad|embedding_backward/
  expect(countOf(whole.names, ofWeights)).toBeGreaterThan(30)
  expect(countOf(every.names, ofWeights)).toBe(0)
  expect(countOf(upper.names, ofWeights)).toBe(0)
  // The one sum of a vector's gradient: over the tokens.
  expect(countOf(every.names, /reduce_rows/)).toBe(6)
  expect(countOf(upper.names, /reduce_rows/)).toBe(2)
  expect(countOf(every.names, /^add_vector$/)).toBe(6)
  expect(countOf(upper.names, /^add_vector$/)).toBe(2)
  // The vector after block 1 needs blocks 2 to 6 backward, that after block 4 blocks 5 and 6.
  const attention = /attention.*(query|key)/
  expect(countOf(every.names, attention)).toBe(10)
  expect(countOf(upper.names, attention)).toBe(4)
  expect(countOf(steered([6]).names, attention)).toBe(0)
  expect(countOf(steered([0]).names, attention)).toBe(12)
  expect(upper.flops).toBeLessThan(0.8 * every.flops)
  expect(every.flops).toBeLessThan(0.75 * whole.flops)
})

test('a model without vectors records none of their kernels', () => {
  expect(countOf(updateOf(SMALL).names, /^add_vector$/)).toBe(0)
})
