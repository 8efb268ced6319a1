// Adapters on the GPU against the float64 model: policy and the gradients of the factors, of every
// architecture.
import { describe, expect, test } from 'vitest'
import { collect } from '../../kernels/device/base/program.ts'
import { Gpu } from '../../kernels/device/gpu.ts'
import { expectClose, randomValues } from '../../kernels/testing.ts'
import type { LoraConfig, ModelConfig } from '../layout/config.ts'
import { loraScale } from '../layout/lora.ts'
import { adapterTensors } from '../params/adapter_tensors.ts'
import { createParamBuffers } from '../params/param_buffers.ts'
import { readParams, writeParams } from '../params/param_copies.ts'
import { frozenGradients, type ParamGradients } from '../params/param_tensors.ts'
import { CONFIGS, TINY, testBatch, testModel, testWeights } from '../testing.ts'
import { backwardRef } from './backward.ref.ts'
import { backward } from './backward.ts'
import { type Model, withoutAdapter } from './model.ts'
import { policyRef } from './policy.ref.ts'
import { readPolicy } from './policy.ts'
import { uploadRows } from './rows.ts'
import { forwardRef } from './transformer.ref.ts'
import { forward } from './transformer.ts'
import { createWorkspace, type Workspace } from './workspace.ts'

const gpu = await Gpu.open()
const LENGTHS = [
  { prompt: 5, response: 4 },
  { prompt: 2, response: 1 },
  { prompt: 1, response: 4 },
]
const BATCH = testBatch(LENGTHS, { P: 5, R: 4, vocab_size: TINY.vocab_size, seed: 7 })
const RESPONSE = {
  response_ids: BATCH.response_ids,
  response_mask: BATCH.response_mask,
  first_column: BATCH.P - 1,
  response_length: BATCH.R,
  temperature: 0.8,
}
const d_log_probs = randomValues(BATCH.response_mask.length, 3).map(
  (x, i) => x * BATCH.response_mask[i],
)
const d_entropy = randomValues(BATCH.response_mask.length, 4).map(
  (x, i) => x * BATCH.response_mask[i],
)

const ALL: LoraConfig = {
  r: 4,
  lora_alpha: 6,
  use_rslora: true,
  target_modules: 'all-linear',
  layers_to_transform: null,
}

/** A model with random factors, room for their gradients, and the same in float64. */
function build(config: ModelConfig, lora: LoraConfig) {
  const { layout, flat, exact } = testWeights({ ...config, lora }, 1)
  const model = testModel(gpu, layout, flat)
  if (!model.adapter) throw new Error('no adapter')
  const own = model.adapter.layout
  const values = Float32Array.from(randomValues(own.size, 11), (x) => 0.4 * x)
  writeParams(gpu, model.adapter.buffers, values)
  const buffers = createParamBuffers(gpu, own, 'gradients', 'gradients')
  const grads: ParamGradients = {
    ...frozenGradients(layout),
    buffers,
    adapter: adapterTensors(gpu, own, buffers),
  }
  const factors = Object.fromEntries(
    own.params.map(({ name, offset, size }) => [
      name,
      Float64Array.from(values.subarray(offset, offset + size)),
    ]),
  )
  const ws = createWorkspace(gpu, layout.shape, {
    rows: BATCH.rows,
    width: BATCH.width,
    response_length: BATCH.R,
    trains: true,
  })
  uploadRows(gpu, ws, BATCH)
  return { exact, model, grads, own, ws, adapter: { factors, scaleOf: () => loraScale(lora) } }
}

async function logProbs(model: Model, ws: Workspace, layer: number) {
  const program = await gpu.record('score', [], (r) => {
    forward(r, model, ws, { layers: layer })
    readPolicy(r, model, ws, { layer, inv_temperature: 1 / RESPONSE.temperature })
  })
  gpu.replay(program)
  return (await gpu.read(ws.response.log_probs))[0]
}

/** Holds policy and gradients of one layer to the float64 model. */
async function expectAgreement(config: ModelConfig, lora: LoraConfig, layer: number) {
  const { exact, model, grads, own, ws, adapter } = build(config, lora)
  const cache = forwardRef(config, exact, BATCH, { layers: layer, adapter })
  const truth = policyRef(config, exact, cache, layer, RESPONSE)
  expectClose(await logProbs(model, ws, layer), truth.log_probs, { atol: 2e-5, rtol: 2e-5 })
  gpu.write(ws.response.d_log_probs, d_log_probs)
  gpu.write(ws.response.d_entropy, d_entropy)
  const program = await gpu.record('backward', [], (r) =>
    backward(r, model, grads, ws, { layer, inv_temperature: 1 / RESPONSE.temperature }),
  )
  gpu.replay(program)
  const [flat] = await readParams(gpu, grads.buffers)
  const expected = backwardRef(config, exact, cache, layer, { ...RESPONSE, d_log_probs, d_entropy })
  const scale = Math.max(...Object.values(expected).flatMap((g) => [...g].map(Math.abs)))
  for (const { name, offset, size } of own.params) {
    const actual = flat.subarray(offset, offset + size)
    const truthGrad = expected[name] ?? new Float64Array(size)
    expectClose(actual, truthGrad, { atol: 3e-6 * scale, rtol: 1e-4 })
  }
  expect(Object.keys(expected).length).toBeGreaterThan(0)
}

test.for(CONFIGS.map((config, i) => [config.model_type, config, i] as const))(
  '%s: every factor of all projections',
  ([, config]) => expectAgreement(config, ALL, 3),
)

describe('parts of a model', () => {
  const plain = { ...ALL, use_rslora: false, r: 1 }
  test.for<[string, Partial<LoraConfig>, number]>([
    ['two of three modules of a product', { target_modules: ['q_proj', 'v_proj'] }, 3],
    ['the last module of a product', { target_modules: ['v_proj', 'up_proj'] }, 2],
    ['one block, of which the gradient needs what lies above', { layers_to_transform: [1] }, 3],
    ['the write of the attention', { target_modules: ['o_proj'], layers_to_transform: [1, 2] }, 3],
    ['the activation’s inputs', { target_modules: ['gate_proj'] }, 1],
    ['the last product of a block', { target_modules: ['down_proj'], layers_to_transform: [2] }, 3],
    ['a block above the policy', { target_modules: ['k_proj'], layers_to_transform: [0, 2] }, 2],
  ])('%s', ([, lora, layer]) => expectAgreement(TINY, { ...plain, ...lora }, layer))
})

test('with B = 0 and with the adapter off the model is its base, bit for bit', async () => {
  const { layout, flat } = testWeights(TINY, 1)
  const { model, ws } = build(TINY, ALL)
  const base = await logProbs(testModel(gpu, layout, flat), ws, 3)
  expect(await logProbs(withoutAdapter(model), ws, 3)).toEqual(base)
  expect(await logProbs(model, ws, 3)).not.toEqual(base)
  if (model.adapter)
    writeParams(gpu, model.adapter.buffers, new Float32Array(model.adapter.layout.size))
  expectClose(await logProbs(model, ws, 3), base, { atol: 2e-6 })
})

test('nothing below the lowest adapted block is computed', () => {
  const dispatches = (lora: Partial<LoraConfig>) => {
    const { model, grads, ws } = build(TINY, { ...ALL, ...lora })
    return collect('backward', (r) =>
      backward(r, model, grads, ws, { layer: 3, inv_temperature: 1 }),
    ).flatMap((command) => (command.kind === 'dispatch' ? [command.kernel.name] : []))
  }
  const every = dispatches({})
  const last = dispatches({ layers_to_transform: [2] })
  const attention = (names: string[]) => names.filter((name) => /attention/.test(name)).length
  expect(attention(every)).toBe(6)
  expect(attention(last)).toBe(2)
  expect(last.length).toBeLessThan(every.length / 2.5)
  // Of the last product alone nothing of attention is needed.
  const down = dispatches({ layers_to_transform: [2], target_modules: ['down_proj'] })
  expect(attention(down)).toBe(0)
  // No weight of the base has a gradient.
  expect(
    every.filter((name) => /weight_grad|reduce_rows/.test(name) && !/low_rank/.test(name)),
  ).toEqual([])
})
