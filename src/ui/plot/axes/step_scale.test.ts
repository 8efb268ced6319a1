import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { phaseShares, placeOf, stepAtPlace, stepScale } from './step_scale.ts'

const sft = (steps: number) => ({ steps, is_rl: false })
const rl = (steps: number) => ({ steps, is_rl: true })

test('phases of reinforcement get most of the width, and a short one can be seen', () => {
  const [warm, inner, final] = phaseShares([sft(600), rl(10), rl(90)])
  expect(warm).toBeCloseTo(0.28, 12)
  // 10 of 700 steps would be 1.4 % of an even axis.
  expect(inner).toBeCloseTo(0.72 / 4, 12)
  expect(inner + final).toBeCloseTo(0.72, 12)
  // Where they have more than that already, they keep it.
  expect(phaseShares([sft(10), rl(90)])[1]).toBeCloseTo(0.9, 12)
  expect(phaseShares([rl(50), rl(50)])).toEqual([0.5, 0.5])
  expect(phaseShares([sft(50)])).toEqual([1])
})

test('one phase is an even axis', () => {
  expect(stepScale([rl(50)])).toBeUndefined()
  expect(stepScale([rl(50), sft(0)])).toBeUndefined()
  expect(placeOf(7, undefined)).toBe(7)
})

test('steps keep their order, boundaries their places, and places lead back to their steps', () => {
  const scale = stepScale([sft(66), rl(4), rl(50)])
  expect(placeOf(66, scale)).toBeCloseTo(0.28, 12)
  expect(placeOf(120, scale)).toBeCloseTo(1, 12)
  const phases = fc.array(
    fc.record({ steps: fc.integer({ min: 0, max: 1e5 }), is_rl: fc.boolean() }),
  )
  fc.assert(
    fc.property(phases, fc.double({ min: 0, max: 2e5, noNaN: true }), (phases, step) => {
      const scale = stepScale(phases)
      expect(placeOf(step + 1, scale)).toBeGreaterThan(placeOf(step, scale))
      expect(stepAtPlace(placeOf(step, scale), scale)).toBeCloseTo(step, 3)
    }),
  )
})
