import { expect, test } from 'vitest'
import { fraction, maximum, mean, minimum, select, sum, variance } from './stats.ts'

test('plain statistics of 1, 2, 3, 6', () => {
  const x = [1, 2, 3, 6]
  expect([sum(x), mean(x), minimum(x), maximum(x)]).toEqual([12, 3, 1, 6])
  // deviations -2, -1, 0, 3: squares sum to 14
  expect(variance(x, { unbiased: false })).toBe(14 / 4)
  expect(variance(x, { unbiased: true })).toBe(14 / 3)
  expect(fraction(x, (value) => value > 2)).toBe(0.5)
  expect([...select(x, [1, 0, 0, 1])]).toEqual([1, 6])
})

test('a mean of nothing is no number, and nor is the unbiased variance of one', () => {
  expect(mean([])).toBeNaN()
  expect(variance([5], { unbiased: true })).toBeNaN()
  expect(variance([5], { unbiased: false })).toBe(0)
})

test('a batch larger than the stack has extremes', () => {
  const x = new Float64Array(300_000).map((_, i) => -Math.abs(i - 1234))
  expect([maximum(x), minimum(x)]).toEqual([-0, -298_765])
})
