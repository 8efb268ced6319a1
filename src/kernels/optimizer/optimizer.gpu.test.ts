import { describe, expect, test } from 'vitest'

import { Gpu } from '../device/gpu.ts'
import { expectClose, randomValues } from '../testing.ts'
import { VECTOR_CHUNK } from './control.ts'
import { adamwRef } from './optimizer.ref.ts'
import {
  adamw_update,
  adamw_update_rates,
  CONTROL,
  grad_norm_finish,
  grad_norm_finish_rates,
  grad_norm_partial,
  OPTIMIZER_BLOCKS,
} from './optimizer.ts'

const gpu = await Gpu.open()

const betas = { beta1: 0.9, beta2: 0.999 }
const oneMinus = { one_minus_beta1: 1 - betas.beta1, one_minus_beta2: 1 - betas.beta2 }
const rest = { eps: 1e-8, weight_decay: 0.1, vector_weight_decay: 0.02 }

/** A flat buffer of `chunks` chunks of 64, the segment of each chunk, and everything the three
 * kernels bind. */
function setUp(segmentOfChunk: number[], seed: number) {
  const length = segmentOfChunk.length * 64
  const segments = Math.max(...segmentOfChunk.map((chunk) => chunk % VECTOR_CHUNK)) + 1
  const weights = randomValues(length, seed)
  return {
    length,
    segments,
    state: {
      weights: Float64Array.from(weights),
      m: new Float64Array(length),
      v: new Float64Array(length),
      steps: Array.from({ length: segments }, () => 0),
    },
    tensors: {
      gradients: gpu.tensor('gradients', 'f32', [length]),
      weights: gpu.tensor('weights', 'f32', [length], { data: weights }),
      m: gpu.tensor('m', 'f32', [length]),
      v: gpu.tensor('v', 'f32', [length]),
      partials: gpu.tensor('partials', 'f32', [OPTIMIZER_BLOCKS]),
      control: gpu.tensor('control', 'f32', [CONTROL.length]),
      corrections: gpu.tensor('corrections', 'f32', [segments, 2]),
      chunk_segment: gpu.tensor('chunk_segment', 'u32', [segmentOfChunk.length], {
        data: Uint32Array.from(segmentOfChunk),
      }),
    },
  }
}

async function step(
  { tensors, segments }: ReturnType<typeof setUp>,
  gradients: Float32Array,
  options: { count: number; active_segments: number; lr: number; max_norm: number },
) {
  const { count, active_segments, lr, max_norm } = options
  gpu.write(tensors.gradients, gradients)
  await gpu.run(grad_norm_partial, { count, first: 0, accumulate: 0 }, tensors)
  const finish = { max_norm, segments, active_segments, ...oneMinus }
  await gpu.run(grad_norm_finish, finish, tensors)
  await gpu.run(adamw_update, { count, lr, ...betas, ...oneMinus, ...rest }, tensors)
  const [control] = await gpu.read(tensors.control)
  return Object.fromEntries(CONTROL.map((name, i) => [name, control[i]]))
}

describe('grad_norm_partial and grad_norm_finish', () => {
  test('a norm over several buffers has the bits of the norm over one', async () => {
    const length = 64 * 150
    const gradients = gpu.tensor('g', 'f32', [length], { data: randomValues(length, 4) })
    const found: Float32Array[] = []
    for (const cuts of [
      [0, length],
      [0, 64, 4160, 5120, length],
    ]) {
      const partials = gpu.tensor('partials', 'f32', [OPTIMIZER_BLOCKS], {
        data: new Float32Array(OPTIMIZER_BLOCKS).fill(7),
      })
      for (const [i, first] of cuts.slice(0, -1).entries()) {
        const count = cuts[i + 1] - first
        const part = gpu.view(gradients, 'part', first, [count])
        const params = { count, first, accumulate: i > 0 ? 1 : 0 }
        await gpu.run(grad_norm_partial, params, { gradients: part, partials })
      }
      found.push((await gpu.read(partials))[0])
    }
    expect(found[1]).toEqual(found[0])
  })

  // One, less than a block, all blocks and one more, several strides.
  test.for([1, 200, 65_537, 150_000])('give the norm of %i values', async (count) => {
    const gradients = randomValues(count, count).map((x) => x * 100)
    const run = setUp([0], 1)
    const tensors = {
      ...run.tensors,
      gradients: gpu.tensor('gradients', 'f32', [count], { data: gradients }),
    }
    await gpu.run(grad_norm_partial, { count, first: 0, accumulate: 0 }, tensors)
    await gpu.run(
      grad_norm_finish,
      { max_norm: 1, segments: 1, active_segments: 1, ...oneMinus },
      tensors,
    )
    const [control] = await gpu.read(tensors.control)
    const norm = Math.sqrt(gradients.reduce((sum, g) => sum + g * g, 0))
    expectClose(control, [norm, 1 / (norm + 1e-6), 1, 0, 1])
  })

  test.for([
    ['NaN', Number.NaN, 0],
    ['Inf', Number.POSITIVE_INFINITY, 0],
    ['a square beyond f32', 1e30, 0],
    ['two blocks whose sum is beyond f32', 1.6e19, 1],
  ] as const)('%s is not finite: the step is skipped and counted', async ([, value, twice]) => {
    const run = setUp([0, 0, 0, 0, 1], 2)
    const gradients = randomValues(run.length, 3)
    gradients[5] = value
    if (twice) gradients[300] = value
    const before = await gpu.read(run.tensors.weights, run.tensors.m, run.tensors.corrections)
    const options = { count: run.length, active_segments: 2, lr: 0.1, max_norm: 1 }
    const control = await step(run, gradients, options)
    expect(control).toMatchObject({ is_finite: 0, skipped_steps: 1, optimizer_steps: 0 })
    expect(Number.isFinite(control.grad_norm)).toBe(false)
    const after = await gpu.read(run.tensors.weights, run.tensors.m, run.tensors.corrections)
    expect(after).toEqual(before)
    expect(await step(run, randomValues(run.length, 4), options)).toMatchObject({
      is_finite: 1,
      skipped_steps: 1,
      optimizer_steps: 1,
    })
  })
})

describe('adamw_update', () => {
  test('follows the reference over steps with a changing rate, a segment that starts later and a skipped step', async () => {
    const segmentOfChunk = [0, VECTOR_CHUNK, 0, 1, 1, VECTOR_CHUNK + 2]
    const run = setUp(segmentOfChunk, 11)
    for (let t = 0; t < 8; t++) {
      // Three steps of the first segment, then all but the last 10 elements; clipped every other
      // step.
      const [count, active_segments] = t < 3 ? [192, 1] : [run.length - 10, 3]
      const gradients = randomValues(run.length, 100 + t).map((g) => g * 0.1)
      if (t === 4) gradients[200] = Number.NaN
      const options = { count, active_segments, lr: 0.01 / (t + 1), max_norm: t % 2 ? 0.1 : 10 }
      const control = await step(run, gradients, options)
      const expected = adamwRef(
        run.state,
        gradients,
        { ...betas, ...rest, lr: options.lr, max_norm: options.max_norm },
        { count, chunk_segment: segmentOfChunk, active_segments },
      )
      expect(control.clip_coef).toBeCloseTo(expected.clip_coef, 5)
      const [weights, m, v] = await gpu.read(run.tensors.weights, run.tensors.m, run.tensors.v)
      expectClose(weights, run.state.weights)
      expectClose(m, run.state.m)
      expectClose(v, run.state.v)
    }
    expect(run.state.steps).toEqual([7, 4, 4])
    const [control, corrections] = await gpu.read(run.tensors.control, run.tensors.corrections)
    expect(Array.from(control.subarray(2))).toEqual([1, 1, 7])
    expectClose(
      corrections,
      run.state.steps.flatMap((t) => [1 - betas.beta1 ** t, 1 - betas.beta2 ** t]),
      { atol: 0, rtol: 1e-6 },
    )
  })
})

describe('with a rate for each segment', () => {
  test('follows the reference: full, a tenth, frozen for a while; Infinity in what is frozen is not seen', async () => {
    const chunk_segment = [0, 0, 1, 2, 2, 3]
    const run = setUp(chunk_segment, 31)
    const lr_factors = gpu.tensor('lr_factors', 'f32', [run.segments])
    const tensors = { ...run.tensors, lr_factors }
    const where = { count: run.length, active_segments: 4 }
    const start = run.state.weights.slice()
    for (let t = 0; t < 6; t++) {
      const rates = t < 3 ? [1, 0.1, 0, 0.5] : [0, 2, 1, 1]
      gpu.write(lr_factors, Float32Array.from(rates))
      const gradients = randomValues(run.length, 200 + t).map((g) => g * 0.2)
      // The caller clears what is frozen; the truth leaves it out of the norm.
      const cleared = gradients.map((g, i) => (rates[chunk_segment[Math.floor(i / 64)]] ? g : 0))
      gpu.write(tensors.gradients, cleared)
      const settings = { lr: 0.01, max_norm: 0.7 }
      await gpu.run(grad_norm_partial, { count: run.length, first: 0, accumulate: 0 }, tensors)
      const finish = { max_norm: 0.7, segments: 4, active_segments: 4, ...oneMinus }
      await gpu.run(grad_norm_finish_rates, finish, tensors)
      // No kernel may look at a frozen gradient.
      const broken = cleared.map((g, i) =>
        rates[chunk_segment[Math.floor(i / 64)]] ? g : Number.POSITIVE_INFINITY,
      )
      gpu.write(tensors.gradients, broken)
      const update = { count: run.length, lr: settings.lr, ...betas, ...oneMinus, ...rest }
      await gpu.run(adamw_update_rates, update, tensors)
      const truth = adamwRef(
        run.state,
        gradients,
        { ...betas, ...rest, ...settings },
        { ...where, chunk_segment, lr_factors: rates },
      )
      const [control, weights, m, v] = await gpu.read(
        tensors.control,
        tensors.weights,
        tensors.m,
        tensors.v,
      )
      expect(control[0]).toBeCloseTo(truth.grad_norm, 5)
      expect(truth.clip_coef).toBeLessThan(1)
      expectClose(weights, run.state.weights)
      expectClose(m, run.state.m)
      expectClose(v, run.state.v)
      if (t === 2) {
        expect(weights.subarray(192, 320)).toEqual(Float32Array.from(start.subarray(192, 320)))
        expect(weights[64]).not.toBe(start[64])
      }
    }
    expect(run.state.steps).toEqual([3, 6, 3, 6])
    const [corrections] = await gpu.read(tensors.corrections)
    expectClose(
      corrections,
      run.state.steps.flatMap((t) => [1 - betas.beta1 ** t, 1 - betas.beta2 ** t]),
      { atol: 0, rtol: 1e-6 },
    )
  })

  test('factors of 1 give the bits of one rate', async () => {
    const chunk_segment = [0, 0, 1, 2]
    const [one, rates] = [setUp(chunk_segment, 5), setUp(chunk_segment, 5)]
    const lr_factors = gpu.tensor('lr_factors', 'f32', [3], { data: new Float32Array(3).fill(1) })
    const tensors = { ...rates.tensors, lr_factors }
    const count = one.length
    for (let t = 0; t < 3; t++) {
      const gradients = randomValues(count, t)
      await step(one, gradients, { count, active_segments: 3, lr: 0.01, max_norm: 1 })
      gpu.write(tensors.gradients, gradients)
      await gpu.run(grad_norm_partial, { count, first: 0, accumulate: 0 }, tensors)
      const finish = { max_norm: 1, segments: 3, active_segments: 3, ...oneMinus }
      await gpu.run(grad_norm_finish_rates, finish, tensors)
      const update = { count, lr: 0.01, ...betas, ...oneMinus, ...rest }
      await gpu.run(adamw_update_rates, update, tensors)
    }
    expect(await gpu.read(tensors.weights, tensors.m, tensors.v)).toEqual(
      await gpu.read(one.tensors.weights, one.tensors.m, one.tensors.v),
    )
  })
})
