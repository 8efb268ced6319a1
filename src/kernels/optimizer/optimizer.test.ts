import { expect, test } from 'vitest'

import { expectClose } from '../testing.ts'
import { VECTOR_CHUNK } from './control.ts'
import { adamwRef } from './optimizer.ref.ts'

const settings = {
  lr: 0.1,
  beta1: 0.9,
  beta2: 0.99,
  eps: 1e-8,
  weight_decay: 0.5,
  max_norm: 100,
}
const fresh = (length: number, segments: number) => ({
  weights: new Float64Array(length).fill(1),
  m: new Float64Array(length),
  v: new Float64Array(length),
  steps: Array.from({ length: segments }, () => 0),
})

test('the first step moves by lr against the sign of the gradient, after decay', () => {
  const state = fresh(2, 1)
  const layout = { count: 2, chunk_segment: [0], active_segments: 1 }
  adamwRef(state, [3, -4], settings, layout)
  // eps is all that keeps it from being exact.
  expectClose(state.weights, [1 * 0.95 - 0.1, 1 * 0.95 + 0.1], { atol: 1e-9, rtol: 0 })
  // m = 0.9·0.3 + 0.1·1 = 0.37, v = 0.99·0.09 + 0.01·1 = 0.0991; c1 = 0.19, c2 = 0.0199.
  adamwRef(state, [1, 0], { ...settings, lr: 0.01, weight_decay: 0 }, layout)
  const step = ((0.01 / 0.19) * 0.37) / Math.sqrt(0.0991 / 0.0199)
  expect(state.weights[0]).toBeCloseTo(0.85 - step, 8)
})

test('clips by the global norm of the trained prefix only', () => {
  const layout = { count: 2, chunk_segment: [0], active_segments: 1 }
  const { grad_norm, clip_coef } = adamwRef(
    fresh(3, 1),
    [3, 4, 1000],
    { ...settings, max_norm: 1 },
    layout,
  )
  expect(grad_norm).toBe(5)
  expect(clip_coef).toBeCloseTo(0.2, 6)
})

test('a segment that starts later starts at its own first step, and a non-finite gradient changes nothing', () => {
  const state = fresh(128, 2)
  const chunk_segment = [0, 1]
  const gradients = new Float64Array(128).fill(0.01)
  const still = { ...settings, weight_decay: 0 }
  adamwRef(state, gradients, still, { count: 64, chunk_segment, active_segments: 1 })
  const broken = gradients.slice()
  broken[70] = Number.NaN
  const before = structuredClone(state)
  adamwRef(state, broken, still, { count: 128, chunk_segment, active_segments: 2 })
  expect(state).toEqual(before)
  adamwRef(state, gradients, still, { count: 128, chunk_segment, active_segments: 2 })
  expect(state.steps).toEqual([2, 1])
  // A constant gradient moves a weight by lr in every step, the first included.
  expect(state.weights[0]).toBeCloseTo(0.8, 5)
  expect(state.weights[64]).toBeCloseTo(0.9, 5)
})

test('chunks of norms and biases have a weight decay of their own', () => {
  const state = fresh(128, 1)
  const chunk_segment = [0, VECTOR_CHUNK]
  const where = { count: 128, chunk_segment, active_segments: 1 }
  const none = { ...settings, vector_weight_decay: 0 }
  adamwRef(state, new Float64Array(128), none, where)
  expect([state.weights[0], state.weights[64]]).toEqual([1 - 0.1 * 0.5, 1])
  expect(state.steps).toEqual([1])
})

test('a rate of its own moves a segment by so much more, decay included; a frozen one is not there at all', () => {
  const chunk_segment = [0, 1, 2]
  const where = { count: 192, chunk_segment, active_segments: 3 }
  const gradients = new Float64Array(192).fill(0.01)
  gradients.fill(1000, 128)
  const state = fresh(192, 3)
  const found = adamwRef(state, gradients, settings, { ...where, lr_factors: [1, 0.1, 0] })
  expect(found.grad_norm).toBeCloseTo(Math.sqrt(128) * 0.01, 12)
  expect(state.steps).toEqual([1, 1, 0])
  // The first step of AdamW: the rate, and weight_decay · rate of a weight of 1.
  expect(state.weights[0]).toBeCloseTo(1 - 0.1 - 0.05, 6)
  expect(state.weights[64]).toBeCloseTo(1 - 0.01 - 0.005, 6)
  expect([state.weights[128], state.m[128], state.v[128]]).toEqual([1, 0, 0])
})
