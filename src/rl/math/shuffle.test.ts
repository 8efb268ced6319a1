import fc from 'fast-check'
import { expect, test } from 'vitest'
import { brokenPlace } from '../metrics/nonfinite.ts'
import { rowOrder, shuffledOrder, unshuffled } from './shuffle.ts'

test('an order holds every row once, and depends on its key alone', () => {
  fc.assert(
    fc.property(fc.nat(200), fc.nat(), fc.nat(), fc.nat(), (rows, seed, step, epoch) => {
      const order = rowOrder(seed, step, rows)(epoch)
      expect(order.toSorted((a, b) => a - b)).toEqual(Array.from({ length: rows }, (_, i) => i))
      expect(rowOrder(seed, step, rows)(epoch)).toEqual(order)
    }),
    { numRuns: 50 },
  )
})

test('seeds, steps and epochs have other orders', () => {
  const orders = [rowOrder(1, 1, 50)(0), rowOrder(2, 1, 50)(0), rowOrder(1, 2, 50)(0)]
  const all = [...orders, rowOrder(1, 1, 50)(1), shuffledOrder(50, [1, 1], [1, 0])]
  expect(new Set(all.map((order) => order.join())).size).toBe(all.length)
})

test('every row lands in every place about equally often', () => {
  const draws = 4000
  const counts = new Float64Array(16)
  for (let step = 0; step < draws; step++)
    rowOrder(
      3,
      step,
      4,
    )(0).forEach((row, place) => {
      counts[4 * place + row]++
    })
  // Of 4000 draws with a chance of a quarter: standard deviation 27.
  for (const count of counts) expect(Math.abs(count - draws / 4)).toBeLessThan(5 * 27)
})

test('rows go back to where they came from', () => {
  expect([...unshuffled(Float32Array.of(5, 6, 1, 2, 3, 4), [2, 0, 1], 2)]).toEqual([
    1, 2, 3, 4, 5, 6,
  ])
})

test('a token that was not finite is found in its own row, of the first epoch that found one', () => {
  const slot = (index: number) => 0xffffffff - index
  const order = (epoch: number) =>
    [
      [2, 0, 1],
      [1, 2, 0],
    ][epoch]
  expect(brokenPlace([0, 0], 4, order)).toBeUndefined()
  expect(brokenPlace([slot(6), 0], 4, undefined)).toBe(6)
  expect(brokenPlace([slot(6), slot(1)], 4, order)).toBe(0 * 4 + 2)
  expect(brokenPlace([0, slot(6)], 4, order)).toBe(2 * 4 + 2)
})
