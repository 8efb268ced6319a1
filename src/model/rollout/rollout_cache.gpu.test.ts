// Rollouts whose keys and values are kept in halves, beside the same in float32.
import { expect, test } from 'vitest'
import type { checkHalfCache } from '../../kernels/attention/half_cache_check.ts'
import { GpuError } from '../../kernels/device/base/errors.ts'
import { MemoryPlan } from '../../kernels/device/base/tensor.ts'
import { Gpu } from '../../kernels/device/gpu.ts'
import type { ModelConfig } from '../layout/config.ts'
import { CONFIGS, TINY, testBatch, testModel, testWeights } from '../testing.ts'
import { Rollout } from './rollout.ts'
import type { RolloutSize, Sampling } from './rollout_inputs.ts'
import { createRolloutTensors } from './rollout_tensors.ts'

const gpu = await Gpu.open()
const [P, R, ROWS] = [5, 8, 12]
const SIZE: RolloutSize = { rows: ROWS, n: 2, prompt_length: P, response_length: R }
const HALF: RolloutSize = { ...SIZE, dtype: 'float16' }
const SPECIAL = { eos_token_ids: [], pad_token_id: 0 }
const SAMPLED: Sampling = {
  temperature: 1,
  top_k: null,
  top_p: 1,
  seed: 1,
  stream: 0,
  step: 0,
  row_offset: 0,
}
// Nats. A half is off by 5e-4 at most, and logits reach ten; the largest seen is 2e-3.
const MAX_DIFFERENCE = 1e-2
/** Responses so long that attention takes the kernels with barriers. */
const LONG = { ...HALF, rows: 2, n: 1, response_length: 130 }

async function build(config: ModelConfig, size: RolloutSize, check?: typeof checkHalfCache) {
  const { layout, flat } = testWeights(config, 3)
  const model = testModel(gpu, layout, flat)
  const tensors = createRolloutTensors(gpu, layout.shape, size)
  return Rollout.create(gpu, model, size, tensors, { special: SPECIAL, check })
}

async function generate(rollout: Rollout, change: Partial<Sampling> = {}) {
  const { rows, n = 1 } = rollout.size
  const lengths = Array.from({ length: rows / n }, (_, i) => ({ prompt: 1 + (i % P), response: 0 }))
  const sizes = { P, R: 0, vocab_size: TINY.vocab_size, seed: 11 }
  await rollout.generate(testBatch(lengths, sizes, 'left'), { ...SAMPLED, ...change })
  const { response_ids, log_probs, entropy } = rollout.tensors
  const [ids, log_p, h] = await gpu.read(response_ids, log_probs, entropy)
  return { ids, log_p, h }
}

test('the caches, and nothing else, take half the bytes, as planned', async () => {
  const { shape } = testWeights(TINY, 3).layout
  const plans = [SIZE, HALF].map((size) => {
    const plan = new MemoryPlan()
    createRolloutTensors(plan, shape, size)
    return plan.bytes
  })
  expect(plans[0].kv_cache).toBeGreaterThan(0)
  expect(plans[1]).toEqual({ ...plans[0], kv_cache: plans[0].kv_cache / 2 })
  const before = gpu.memory().kv_cache
  const rollout = await build(TINY, HALF)
  expect(gpu.memory().kv_cache - before).toBe(plans[1].kv_cache)
  expect([rollout.dtype, rollout.fallback_reason]).toEqual(['float16', undefined])
  expect((await build(TINY, SIZE)).dtype).toBe('float32')
})

const configs = CONFIGS.map((config) => [config.model_type, config] as const)

test.for(process.env.LONG_TESTS ? configs : configs.slice(0, 1))(
  'greedy tokens are those of the float32 caches, and log-probs and entropies close to theirs: %s',
  async ([, config]) => {
    const [exact, half] = [await build(config, SIZE), await build(config, HALF)]
    const greedy = { temperature: 0 }
    expect((await generate(half, greedy)).ids).toEqual((await generate(exact, greedy)).ids)
    let compared = 0
    let differing = 0
    for (let step = 0; step < 4; step++) {
      const [expected, actual] = [await generate(exact, { step }), await generate(half, { step })]
      for (let b = 0; b < ROWS; b++)
        for (let t = 0; t < R && expected.ids[b * R + t] === actual.ids[b * R + t]; t++) {
          // Later tokens of rows that part were given other contexts.
          const i = b * R + t
          expect(Math.abs(actual.log_p[i] - expected.log_p[i])).toBeLessThan(MAX_DIFFERENCE)
          expect(Math.abs(actual.h[i] - expected.h[i])).toBeLessThan(MAX_DIFFERENCE)
          if (actual.log_p[i] !== expected.log_p[i]) differing++
          compared++
        }
    }
    expect(compared).toBeGreaterThan(0.9 * 4 * ROWS * R)
    expect(differing, 'the caches were no halves').toBeGreaterThan(compared / 2)
  },
)

test('long responses, by the kernels with barriers: greedy tokens are the same', async () => {
  const [exact, half] = [await build(TINY, { ...LONG, dtype: 'float32' }), await build(TINY, LONG)]
  expect(half.dtype).toBe('float16')
  const greedy = { temperature: 0 }
  expect((await generate(half, greedy)).ids).toEqual((await generate(exact, greedy)).ids)
})

test('where halves do not pass the check, the rollout is the float32 one and says why', async () => {
  const exact = await generate(await build(TINY, SIZE))
  const before = gpu.memory().kv_cache
  const rollout = await build(TINY, HALF, async () => 0.5)
  expect(rollout.dtype).toBe('float32')
  expect(rollout.fallback_reason).toMatch(/differs by 0.50 .* at most 0.02 is allowed/)
  expect(await generate(rollout)).toEqual(exact)
  const planned = new MemoryPlan()
  createRolloutTensors(planned, testWeights(TINY, 3).layout.shape, SIZE)
  expect(gpu.memory().kv_cache - before).toBe(planned.bytes.kv_cache)

  const uncompiled = async () => {
    throw new GpuError('shader', 'kv_cache_write_f16: does not compile')
  }
  const other = await build(TINY, HALF, uncompiled)
  expect(other.fallback_reason).toBe('kv_cache_write_f16: does not compile')
  const notANumber = await build(TINY, HALF, async () => Number.POSITIVE_INFINITY)
  expect(notANumber.dtype).toBe('float32')
})

test('what is no matter of halves is not hidden, and float32 caches are not checked', async () => {
  const lost = async () => {
    throw new GpuError('lost', 'gone')
  }
  await expect(build(TINY, HALF, lost)).rejects.toThrow('gone')
  expect((await build(TINY, SIZE, lost)).dtype).toBe('float32')
  const seen: unknown[] = []
  await build(TINY, HALF, async (_, size) => {
    seen.push(size)
    return 0
  })
  expect(seen).toMatchObject([{ width: P + R, head_dim: TINY.head_dim }])
})

test('rows that are decoded in groups have the tokens and numbers of rows that are decoded at once', async () => {
  const long = { ...SIZE, response_length: 20 }
  const whole = await build(TINY, long)
  const parts = await build(TINY, { ...long, groupRows: 4 })
  expect(parts.dispatches).toBe(3 * whole.dispatches)
  expect(parts.tensors.caches[0].shape[0]).toBeLessThan(whole.tensors.caches[0].shape[0] / 2)
  for (const change of [{}, { step: 3, row_offset: 100 }])
    expect(await generate(parts, change)).toEqual(await generate(whole, change))
})
