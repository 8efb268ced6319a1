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
      const steps = [...values.keys()].filter((i) => Number.isFinite(values[i]))
      const whole = smoothed(
        { steps, values: values.filter(Number.isFinite), length: steps.length },
        weight,
      )
      expect(result.filter(Number.isFinite)).toEqual(Array.from(whole.values))
    }),
  )
})

test('a straight line stays what it is, up to both ends, also where steps are left out', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 300 }),
      fc.double({ min: -100, max: 100, noNaN: true }),
      weights,
      (strides, slope, weight) => {
        let step = 0
        const steps = strides.map((stride) => (step += stride))
        const values = steps.map((at) => slope * at)
        const result = smoothed({ steps, values, length: steps.length }, weight).values
        const slack = 1e-6 * Math.max(1, Math.abs(slope) * step)
        const off = values.map((value, i) => Math.abs(result[i] - value))
        expect(Math.max(...off)).toBeLessThan(slack)
      },
    ),
  )
})

/** A generator of its own, so that the noise is the same each time. */
const noise = (count: number): number[] => {
  let state = 1
  return Array.from({ length: count }, () => {
    state = (state * 48271) % 2147483647
    return state / 2147483647
  })
}
const varianceOf = (values: readonly number[]) => {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length
}

test('noise is evened out, the more the larger the weight, and goes through its middle', () => {
  const values = noise(400)
  const [light, heavy] = [0.5, 0.95].map((weight) => valuesOf(values, weight))
  expect(varianceOf(light)).toBeLessThan(varianceOf(values) / 2)
  expect(varianceOf(heavy)).toBeLessThan(varianceOf(light) / 4)
  // On a rising line, as many points lie above as below, also in its last part.
  const rising = values.map((value, i) => i / 100 + value)
  const line = valuesOf(rising, 0.8)
  for (const part of [rising.slice(0, 100), rising.slice(-100)]) {
    const from = rising.indexOf(part[0])
    const over = part.filter((value, i) => value > line[from + i]).length
    expect(over).toBeGreaterThan(40)
    expect(over).toBeLessThan(60)
  }
})

test('it is the value of the straight line of least squares with weights wᵏ to either side', () => {
  const values = noise(30)
  const result = valuesOf(values, 0.7)
  values.forEach((_, at) => {
    const sum = (of: (x: number, y: number) => number) =>
      values.reduce((all, y, j) => all + 0.7 ** Math.abs(j - at) * of(j - at, y), 0)
    const [n, x, xx] = [sum(() => 1), sum((x) => x), sum((x) => x * x)]
    const [y, xy] = [sum((_, y) => y), sum((x, y) => x * y)]
    expect(result[at]).toBeCloseTo((xx * y - x * xy) / (n * xx - x * x), 12)
  })
})

test('shares stay shares, and what is never negative stays so', () => {
  for (const max of [1, 1e6]) {
    const some = fc.array(fc.double({ min: 0, max, noNaN: true }), { minLength: 1 })
    fc.assert(
      fc.property(some, weights, (values, weight) => {
        const most = Math.max(...values) <= 1 ? 1 : Number.POSITIVE_INFINITY
        for (const value of valuesOf(values, weight)) {
          expect(value).toBeGreaterThanOrEqual(0)
          expect(value).toBeLessThanOrEqual(most)
        }
      }),
    )
  }
})

test('a line that rises is not bent flat at the largest measured value', () => {
  // It rises, and then stays: a straight line through all of it ends above it.
  const values = Array.from({ length: 90 }, (_, i) => Math.min(i, 80) / 10)
  const line = valuesOf(values, MAX_WEIGHT)
  expect(line[89]).toBeGreaterThan(8.2)
  expect(line[89] - line[88]).toBeGreaterThan(0.01)
})

test('the line of a series that grows is another one, and else the same', () => {
  const values = Array.from({ length: 500 }, (_, i) => Math.sin(i))
  const columns = { ...columnsOf(values), length: 3 }
  const first = smoothed(columns, 0.9)
  expect(first.length).toBe(3)
  expect(smoothed(columns, 0.9)).toBe(first)
  columns.length = 500
  // What is drawn of it begins again: also older points move.
  const grown = smoothed(columns, 0.9)
  expect(grown).not.toBe(first)
  expect(Array.from(grown.values)).toEqual(valuesOf(values, 0.9))
})

test('another weight starts over, and one too large is brought down', () => {
  const columns = columnsOf([0, 1, 0])
  expect(smoothed(columns, 0.5).values[1]).toBeCloseTo(0.5)
  expect(smoothed(columns, 7)).toEqual(smoothed(columnsOf([0, 1, 0]), MAX_WEIGHT))
})

test('the heaviest fit of a usual run still follows it', () => {
  // It rises in a third of its 45 steps, and stays.
  const line = valuesOf(
    Array.from({ length: 45 }, (_, i) => Math.min(i / 15, 1)),
    1,
  )
  const straight = (i: number) => line[0] + ((line[44] - line[0]) * i) / 44
  expect(line[20] - straight(20)).toBeGreaterThan(0.15)
})
