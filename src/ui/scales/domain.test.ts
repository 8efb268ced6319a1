import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { growSteps, logStepTicks, logTicks, niceCeil, niceTicks, stepTicks } from './domain.ts'

test('a nice ceiling is 1, 2, 2.5, 5 or 10 times a power of ten', () => {
  expect([0.9, 1, 1.01, 2.2, 3, 7, 0.0021, 0, Number.NaN].map(niceCeil)).toEqual([
    1, 1, 2, 2.5, 5, 10, 0.0025, 1, 1,
  ])
})

test('the step axis starts at 20 and grows in steps of at least a quarter', () => {
  expect(growSteps(0, 0, 1000)).toBe(20)
  expect(growSteps(0, 20, 1000)).toBe(20)
  expect(growSteps(0, 21, 1000)).toBe(25)
  const ends = Array.from({ length: 1000 }, (_, step) => growSteps(0, step, 0))
  expect(new Set(ends).size).toBeLessThan(22)
})

test('the step axis holds every step and never ends past the plan while the run keeps to it', () => {
  fc.assert(
    fc.property(fc.nat(5000), fc.nat(5000), (step, total) => {
      const end = growSteps(0, step, total)
      expect(end).toBeGreaterThanOrEqual(step)
      if (total > 0 && step <= total) expect(end).toBeLessThanOrEqual(total)
    }),
  )
})

test('ticks cover the data at equal distances', () => {
  fc.assert(
    fc.property(
      fc.double({ min: -1e6, max: 1e6, noNaN: true }),
      fc.double({ min: 1e-6, max: 1e6, noNaN: true }),
      (low, span) => {
        const ticks = niceTicks(low, low + span, 4)
        // Ticks are rounded to 12 digits.
        const slack = 1e-9 * (Math.abs(low) + span)
        expect(ticks[0]).toBeLessThanOrEqual(low + slack)
        expect(ticks[ticks.length - 1]).toBeGreaterThanOrEqual(low + span - slack)
        expect(new Set(ticks).size).toBe(ticks.length)
        expect(ticks.length).toBeLessThanOrEqual(7)
      },
    ),
  )
})

test('a flat or empty interval still makes an axis', () => {
  expect(niceTicks(0, 0, 3)).toEqual([0, 0.5, 1])
  expect(niceTicks(Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 3)).toEqual([0, 0.5, 1])
})

test('step ticks are whole numbers inside the axis', () => {
  expect(stepTicks([0, 520], 5)).toEqual([0, 200, 400])
  expect(stepTicks([0, 3], 6)).toEqual([0, 1, 2, 3])
  expect(stepTicks([412, 520], 5)).toEqual([425, 450, 475, 500])
})

test('logarithmic ticks are powers of ten, or 1, 2, 5 times them where the values are near', () => {
  expect(logTicks(0.002, 30, 5)).toEqual([0.001, 0.01, 0.1, 1, 10, 100])
  expect(logTicks(0.3, 4, 5)).toEqual([0.2, 0.5, 1, 2, 5])
  expect(logTicks(3, 3.3, 5)).toEqual([3, 3.1, 3.2, 3.3])
  expect(logTicks(1e-9, 1e3, 4)).toEqual([1e-9, 1e-6, 1e-3, 1, 1e3])
  expect(logTicks(Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 4)).toEqual([1, 10])
})

test('logarithmic ticks cover the values, ascend and are above 0', () => {
  const positive = fc.double({ min: 1e-12, max: 1e12, noNaN: true })
  fc.assert(
    fc.property(positive, positive, (a, b) => {
      const ticks = logTicks(Math.min(a, b), Math.max(a, b), 4)
      expect(ticks[0]).toBeGreaterThan(0)
      expect(ticks[0]).toBeLessThanOrEqual(Math.min(a, b) * (1 + 1e-9))
      expect(ticks[ticks.length - 1]).toBeGreaterThanOrEqual(Math.max(a, b) * (1 - 1e-9))
      expect(ticks).toEqual([...new Set(ticks)].sort((x, y) => x - y))
      expect(ticks.length).toBeLessThanOrEqual(9)
    }),
  )
})

test('logarithmic step ticks lie inside the axis', () => {
  expect(logStepTicks([1, 2000], 6)).toEqual([1, 10, 100, 1000])
  expect(logStepTicks([1, 60], 8)).toEqual([1, 2, 5, 10, 20, 50])
  expect(logStepTicks([412, 520], 5)).toEqual([425, 450, 475, 500])
})

test('an axis is not half empty where closer ticks have room', () => {
  expect(niceTicks(0, 13.8, 3)).toEqual([0, 5, 10, 15])
  expect(niceTicks(0, 2102, 3)).toEqual([0, 1000, 2000, 3000])
  expect(niceTicks(0, 1, 3)).toEqual([0, 0.5, 1])
  // Ticks that would be too many leave it as it is.
  expect(niceTicks(-0.1, 5.1, 2).length).toBeLessThanOrEqual(4)
})

test('the largest numbers have ticks that are numbers', () => {
  for (const most of [1e308, 1.79e308])
    for (const ticks of [niceTicks(0, most, 5), niceTicks(-most, most, 5), logTicks(1, most, 5)]) {
      expect(ticks.length).toBeGreaterThan(2)
      expect(Number.isFinite((ticks.at(-1) ?? NaN) - ticks[0])).toBe(true)
    }
  expect(niceTicks(0, 1e308, 5)).toEqual([0, 2.5e307, 5e307, 7.5e307, 1e308])
})
