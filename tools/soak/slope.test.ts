import { expect, test } from 'vitest'
import { fitSlope } from './slope.ts'

test('a straight line has its slope and no error', () => {
  const { slope, error } = fitSlope([0, 1, 2, 5].map((x) => [x, 3 - 2 * x]))
  expect(slope).toBeCloseTo(-2, 12)
  expect(error).toBeCloseTo(0, 12)
})

test('slope and error of points off the line, by hand', () => {
  // Means 1.5 and 1.75; Σ(x − x̄)² = 5, Σ(x − x̄)(y − ȳ) = 4.5; residuals −0.4, 0.7, −0.2, −0.1: Σ
  // = 0.7.
  const { points, slope, error } = fitSlope([
    [0, 0],
    [1, 2],
    [2, 2],
    [3, 3],
  ])
  expect(points).toBe(4)
  expect(slope).toBeCloseTo(0.9, 12)
  expect(error).toBeCloseTo(Math.sqrt(0.7 / 2 / 5), 12)
})

test('too few points say nothing', () => {
  expect(fitSlope([])).toMatchObject({ slope: Number.NaN, error: Number.NaN })
  expect(fitSlope([[1, 1]])).toMatchObject({ slope: Number.NaN, error: Number.NaN })
  expect(
    fitSlope([
      [1, 1],
      [2, 4],
    ]),
  ).toMatchObject({ slope: 3, error: Number.NaN })
})
