import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { columnsOf } from '../shown/testing.ts'
import { MAX_WEIGHT, smoothed } from './smooth.ts'

const finite = fc.double({ min: -1e6, max: 1e6, noNaN: true })
const weights = fc.double({ min: 0.001, max: MAX_WEIGHT, noNaN: true })
const valuesOf = (values: readonly number[], weight: number) => {
  const result = smoothed(columnsOf(values), weight)
  return Array.from({ length: result.length }, (_, i) => result.values[i])
}

test('a constant series stays what it is, to the bit', () => {
  fc.assert(
    fc.property(finite, fc.integer({ min: 1, max: 300 }), weights, (value, count, weight) => {
      expect(new Set(valuesOf(Array(count).fill(value), weight))).toEqual(new Set([value]))
    }),
  )
})

test('weight 0 is the series itself', () => {
  const columns = columnsOf([1, 2, Number.NaN, 4])
  expect(smoothed(columns, 0)).toBe(columns)
})

test('gaps stay where they are, and what follows continues from before', () => {
  fc.assert(
    fc.property(fc.array(fc.option(finite, { nil: Number.NaN })), weights, (values, weight) => {
      const result = valuesOf(values, weight)
      expect(result.map(Number.isNaN)).toEqual(values.map(Number.isNaN))
      const whole = valuesOf(values.filter(Number.isFinite), weight)
      expect(result.filter(Number.isFinite)).toEqual(whole)
    }),
  )
})

test('it is the average with weights wᵏ, debiased: the first value counts whole', () => {
  fc.assert(
    fc.property(fc.array(finite, { minLength: 1, maxLength: 40 }), weights, (values, weight) => {
      const result = valuesOf(values, weight)
      values.forEach((_, n) => {
        const past = values.slice(0, n + 1).reverse()
        const sum = past.reduce((total, value, k) => total + value * weight ** k, 0)
        const all = past.reduce((total, _value, k) => total + weight ** k, 0)
        // Rounding of sums of up to 40 numbers below 1e6.
        expect(Math.abs(result[n] - sum / all)).toBeLessThan(1e-7)
      })
    }),
  )
})

test('it never leaves the range of the values', () => {
  fc.assert(
    fc.property(fc.array(finite, { minLength: 1 }), weights, (values, weight) => {
      const slack = 1e-9 * Math.max(...values.map(Math.abs))
      for (const value of valuesOf(values, weight)) {
        expect(value).toBeGreaterThanOrEqual(Math.min(...values) - slack)
        expect(value).toBeLessThanOrEqual(Math.max(...values) + slack)
      }
    }),
  )
})

test('a growing series is continued, as if it had been smoothed at once', () => {
  const values = Array.from({ length: 500 }, (_, i) => Math.sin(i))
  const columns = { ...columnsOf(values), length: 3 }
  const first = smoothed(columns, 0.9)
  expect(first.length).toBe(3)
  columns.length = 500
  const grown = smoothed(columns, 0.9)
  expect(grown).toBe(first)
  expect(Array.from(grown.values).slice(0, 500)).toEqual(valuesOf(values, 0.9))
})

test('another weight starts over, and one too large is brought down', () => {
  const columns = columnsOf([0, 1])
  expect(smoothed(columns, 0.5).values[1]).toBeCloseTo(2 / 3)
  const heavy = smoothed(columns, 7).values[1]
  expect(heavy).toBeCloseTo(1 / (1 + MAX_WEIGHT))
})
