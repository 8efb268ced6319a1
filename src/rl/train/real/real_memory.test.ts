// Tests the planned memory of models of real sizes, before anything is allocated.
import { expect, test } from 'vitest'
import { MemoryPlan } from '../../../kernels/device/base/tensor.ts'
import { type ModelConfig, modelShape } from '../../../model/layout/config.ts'
import { paramLayout } from '../../../model/layout/params.ts'
import { LENS_SETTINGS } from '../../config/lens_settings.ts'
import { planMemory } from '../parts/memory.ts'
import { planReadings } from '../touched/readings.ts'
import { grpo, LORA, SHAPES } from './testing.ts'

/** 64 responses of up to 128 tokens, half of them the prompt's. */
const ROWS_64 = { prompts: 8, n: 8, prompt: 64, response: 64 }
const ROWS_256 = { ...ROWS_64, prompts: 32 }

const adapted = (shape: ModelConfig): ModelConfig => ({
  ...shape,
  dtype: 'bfloat16',
  lora: LORA,
})
const gigabytes = (model: ModelConfig, size: typeof ROWS_64) =>
  planMemory(grpo(model, size)).total() / 1e9

test('LoRA of 135 million weights takes at most 1.5 GB, and of 0.6 billion at most 3.5 GB', () => {
  expect(gigabytes(adapted(SHAPES['135m']), ROWS_64)).toBeLessThan(1.5)
  expect(gigabytes(adapted(SHAPES['0.6b']), ROWS_64)).toBeLessThan(3.5)
})

test('256 responses take little more than 64, because they are decoded in groups', () => {
  for (const shape of [SHAPES['135m'], SHAPES['0.6b']]) {
    const model = adapted(shape)
    expect(gigabytes(model, ROWS_256) - gigabytes(model, ROWS_64)).toBeLessThan(0.4)
  }
})

test('a context of 2,048 tokens with responses of 1,024 fits too', () => {
  const long = { prompts: 2, n: 4, prompt: 1024, response: 1024 }
  expect(gigabytes(adapted(SHAPES['135m']), long)).toBeLessThan(4)
  expect(gigabytes(adapted(SHAPES['0.6b']), long)).toBeLessThan(4)
})

test('full training of 135 million weights takes 16 bytes a weight, and as much again for the rest', () => {
  const plan = planMemory(grpo(SHAPES['135m'], ROWS_64))
  const { weights, gradients, optimizer } = plan.bytes
  // Two copies of the weights (the reference), gradients, two moments.
  expect((weights + gradients + optimizer) / 134.5e6).toBeCloseTo(20, 0)
  expect(plan.total()).toBeLessThan(4e9)
})

test('both lenses of 135 million weights are fitted within 5 GB, and a phase that reads through one within 4', () => {
  const { model, ...config } = grpo(SHAPES['135m'], ROWS_64)
  const plan = new MemoryPlan()
  planReadings(plan, { ...config, model }, paramLayout(modelShape(model)), LENS_SETTINGS)
  expect(plan.total()).toBeGreaterThan(1e9)
  expect(plan.total()).toBeLessThan(5e9)
  expect(plan.largest.bytes).toBeLessThanOrEqual(2 ** 27)
  const lora = { ...config, model: adapted(SHAPES['135m']) }
  const phases = config.phases.map((phase) =>
    phase.kind === 'rl' ? { ...phase, target_layer: 15, target_readout: 'tuned' as const } : phase,
  )
  const read = planMemory({ ...lora, phases })
  expect(read.total()).toBeLessThan(4e9)
  expect(read.largest.bytes).toBeLessThanOrEqual(2 ** 27)
})

test('no buffer and no binding is beyond WebGPU’s default limits', () => {
  for (const shape of Object.values(SHAPES))
    for (const model of [shape, adapted(shape)])
      expect(planMemory(grpo(model, ROWS_256)).largest.bytes).toBeLessThanOrEqual(2 ** 27)
})
