import { expect, test } from 'vitest'
import { expectClose } from '../../kernels/testing.ts'
import {
  maskedMean,
  maskedMeanColumns,
  maskedMeanRows,
  maskedSum,
  maskedSumRows,
  maskedVar,
  maskedWhiten,
} from './masked.ts'

/** The mean divides by N + 1e-8, not by N. */
const EPSILON_SHOWS = { rtol: 1e-7, atol: 0 }
const X = [1, 3, Number.NaN, 5]
const MASK = [1, 1, 0, 1]

test('sum, mean and variance are over the selected tokens, and NaN elsewhere is harmless', () => {
  expect(maskedSum(X, MASK)).toBe(9)
  expect(maskedMean(X, MASK)).toBe(9 / (3 + 1e-8))
  // deviations -2, 0, 2
  expectClose([maskedVar(X, MASK)], [4], EPSILON_SHOWS)
  expectClose([maskedVar(X, MASK, { unbiased: false })], [8 / 3], EPSILON_SHOWS)
})

test('whitening subtracts the mean and divides by the root of the variance plus 1e-8', () => {
  const [a, b, , c] = maskedWhiten(X, MASK)
  expectClose([a, b, c], [-1, 0, 1], { rtol: 1e-7, atol: 1e-7 })
  const constant = maskedWhiten([2, 2, 2.0001], [1, 1, 0])
  // variance 0 leaves 1e-8: the token outside is 1e-4 away from the mean, which is 1 in units of
  // 1e-4
  expectClose([constant[2]], [1], { rtol: 1e-3 })
})

test('whitening moves the tokens outside the mask too, and can leave the mean in place', () => {
  expectClose(maskedWhiten([1, 9, 5], [1, 0, 1]), [-Math.SQRT1_2, 3 * Math.SQRT1_2, Math.SQRT1_2], {
    rtol: 1e-7,
  })
  const shifted = maskedWhiten([1, 9, 5], [1, 0, 1], { shiftMean: false })
  expectClose([shifted[2]], [3 + Math.SQRT1_2], { rtol: 1e-7 })
})

test('without a token the mean is 0; a variance of fewer than two tokens is refused', () => {
  expect(maskedMean([4, 5], [0, 0])).toBe(0)
  expect(() => maskedVar([4, 5], [0, 0])).toThrow(/2 tokens or more, the mask selects 0/)
  expect(() => maskedWhiten([4, 5], [0, 1])).toThrow(/2 tokens or more, the mask selects 1/)
  expect(maskedVar([4, 5], [0, 1], { unbiased: false })).toBeLessThan(1e-12)
})

test('rows and columns are reduced on their own, empty ones to 0', () => {
  const x = [1, 2, 3, 4, 5, 6]
  const mask = [1, 0, 1, 0, 0, 0]
  expect([...maskedSumRows(x, mask, 3)]).toEqual([4, 0])
  expect([...maskedMeanRows(x, mask, 3)]).toEqual([4 / (2 + 1e-8), 0])
  expect([...maskedMeanColumns(x, [1, 0, 1, 1, 0, 0], 3)]).toEqual([
    5 / (2 + 1e-8),
    0,
    3 / (1 + 1e-8),
  ])
})

test('lengths that do not fit are named', () => {
  expect(() => maskedSum([1, 2], [1])).toThrow('expected a mask of 2 numbers, found 1')
  expect(() => maskedMeanRows([1, 2, 3], [1, 1, 1], 2)).toThrow(
    'expected rows of 2 columns, found 3 numbers',
  )
})
