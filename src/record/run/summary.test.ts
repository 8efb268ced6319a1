import { expect, test } from 'vitest'
import { extendSummary, SMOOTHING, statisticOf } from './summary.ts'

test('a summary in parts is the summary of all values at once', () => {
  const values = [3, 1, Number.NaN, 4, 1, 5]
  const whole = extendSummary(undefined, values)
  const parts = extendSummary(extendSummary(undefined, values, 0, 2), values, 2, 6)
  expect(parts).toEqual(whole)
  expect(whole).toMatchObject({ count: 5, last: 5, lowest: 1, highest: 5 })
})

test('smoothing starts at the first value and leaves a constant as it is', () => {
  const constant = extendSummary(undefined, [7, 7, 7])
  for (const name of ['smooth_last', 'smooth_lowest', 'smooth_highest'] as const)
    expect(constant[name]).toBeCloseTo(7, 12)
  // Weights of two values: w(1−w) and (1−w), over 1 − w².
  const two = extendSummary(undefined, [0, 1])
  expect(two.smooth_last).toBeCloseTo((1 - SMOOTHING) / (1 - SMOOTHING ** 2), 12)
})

test('what was never finite has no lowest and highest', () => {
  const summary = extendSummary(undefined, [Number.NaN])
  expect(statisticOf(summary, 'last', false)).toBeUndefined()
  expect(statisticOf(undefined, 'last', true)).toBeUndefined()
  const later = extendSummary(extendSummary(summary, [2]), [Number.NaN])
  expect(statisticOf(later, 'last', false)).toBeNaN()
  expect(statisticOf(later, 'highest', false)).toBe(2)
})
