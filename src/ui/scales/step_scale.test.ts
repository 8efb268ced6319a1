import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { equalPhases, phaseShares, placeOf, scaleBreaks, stepAtPlace } from './step_scale.ts'

test('the axis of steps is linear unless a person asks for phases of equal width', () => {
  // A linear warm-up over 30 steps that crosses the end of a phase of 4 has no kink.
  const places = Array.from({ length: 31 }, (_, step) => placeOf(step, undefined))
  const gaps = places.slice(1).map((place, i) => place - places[i])
  expect(new Set(gaps)).toEqual(new Set([1]))
  // 4 of 45 steps.
  expect(phaseShares([15, 4, 26], false)[1]).toBeCloseTo(4 / 45, 12)
  expect(phaseShares([600, 10, 90], false).reduce((sum, share) => sum + share, 0)).toBeCloseTo(1)
  expect(phaseShares([50], false)).toEqual([1])
  expect(phaseShares([0, 0], false)).toEqual([0.5, 0.5])
})

test('phases have the same width where a person asks for it', () => {
  expect(phaseShares([600, 10, 90], true)).toEqual([1 / 3, 1 / 3, 1 / 3])
  expect(phaseShares([600, 0, 90], true)).toEqual([0.5, 0, 0.5])
  const scale = equalPhases([66, 4, 50])
  expect([0, 66, 70, 120].map((step) => placeOf(step, scale))).toEqual([0, 1 / 3, 2 / 3, 1])
})

test('one phase is an even axis', () => {
  expect(equalPhases([50])).toBeUndefined()
  expect(equalPhases([50, 0])).toBeUndefined()
  expect(placeOf(7, undefined)).toBe(7)
})

test('the axis is marked where its scale changes, and nowhere else', () => {
  expect(scaleBreaks(equalPhases([66, 4, 50]), [0, 120])).toEqual([66, 70])
  expect(scaleBreaks(equalPhases([66, 4, 50]), [66, 120])).toEqual([70])
  expect(scaleBreaks(undefined, [0, 120])).toEqual([])
})

test('steps keep their order, and places lead back to their steps', () => {
  const phases = fc.array(fc.integer({ min: 0, max: 1e5 }))
  fc.assert(
    fc.property(phases, fc.double({ min: 0, max: 2e5, noNaN: true }), (phases, step) => {
      const scale = equalPhases(phases)
      expect(placeOf(step + 1, scale)).toBeGreaterThan(placeOf(step, scale))
      expect(stepAtPlace(placeOf(step, scale), scale)).toBeCloseTo(step, 3)
    }),
  )
})
