import { expect, test } from 'vitest'
import { randomValues } from '../../kernels/testing.ts'
import {
  balanceBatch,
  balancedPartitions,
  calculateWorkload,
  dynamicMicroBatches,
} from './balance.ts'

const randomLengths = (count: number, seed: number) =>
  Array.from(randomValues(count, seed), (x) => 1 + Math.floor((x + 1) * 50))
const total = (rows: readonly number[], values: readonly number[]) =>
  rows.reduce((sum, row) => sum + values[row], 0)
const ascending = (a: number, b: number) => a - b

test('the work of a sequence grows with its length and its square', () => {
  expect([1, 10].map(calculateWorkload)).toEqual([24577, 245860])
})

test('largest differencing parts 8, 7, 6, 5, 4 as worked out by hand', () => {
  // Differences 8-7, 6-5 → 1, 1 and 4 → 4-1 = 3, 3-1 = 2: sums 16 and 14.
  const parts = balancedPartitions([8, 7, 6, 5, 4], 2, { equalSize: false })
  expect(parts.map((rows) => total(rows, [8, 7, 6, 5, 4]))).toEqual([16, 14])
})

test('partitions hold every item once, ascending, the largest sum first', () => {
  for (const [count, k, equalSize] of [
    [1, 1, true],
    [12, 3, true],
    [13, 3, false],
    [64, 8, true],
    [5, 5, false],
  ] as const) {
    const values = randomLengths(count, count)
    const parts = balancedPartitions(values, k, { equalSize })
    expect(parts.flat().sort(ascending)).toEqual(values.map((_, i) => i))
    for (const rows of parts) {
      expect(rows).toEqual([...rows].sort(ascending))
      if (equalSize) expect(rows.length).toBe(count / k)
    }
    const sums = parts.map((rows) => total(rows, values))
    expect(sums).toEqual([...sums].sort((a, b) => b - a))
  }
})

test('sums end up closer together than one item', () => {
  const values = randomLengths(60, 4)
  const sums = balancedPartitions(values, 4, { equalSize: false }).map((r) => total(r, values))
  expect(sums[0] - sums[3]).toBeLessThan(Math.min(...values) + 1)
})

test('one rank visits every other length ascending and comes back down', () => {
  expect(balanceBatch([50, 10, 40, 20, 30])).toEqual([[1, 4, 0, 2, 3]])
  // equal lengths keep their order by index
  expect(balanceBatch([5, 5, 5, 5])).toEqual([[0, 2, 3, 1]])
})

test('two ranks get the same number of rows and nearly the same work', () => {
  const seqlens = [90, 10, 80, 20, 70, 30]
  const ranks = balanceBatch(seqlens, 2)
  expect(ranks.map((rows) => rows.length)).toEqual([3, 3])
  const tokens = ranks.map((rows) => rows.reduce((sum, row) => sum + seqlens[row], 0))
  expect(tokens.sort(ascending)).toEqual([140, 160])
})

test('dynamic micro-batches are as many as the tokens need, the light ones at both ends', () => {
  const seqlens = randomLengths(40, 7)
  const parts = dynamicMicroBatches(seqlens, 150)
  expect(parts.length).toBe(Math.ceil(total([...seqlens.keys()], seqlens) / 150))
  expect(parts.flat().sort(ascending)).toEqual([...seqlens.keys()])
  const work = parts.map((rows) => rows.reduce((sum, b) => sum + calculateWorkload(seqlens[b]), 0))
  const heaviest = work.indexOf(Math.max(...work))
  expect(work.slice(0, heaviest)).toEqual(work.slice(0, heaviest).sort(ascending))
  expect(work.slice(heaviest)).toEqual(work.slice(heaviest).sort((a, b) => b - a))
})

test('there are never more micro-batches than rows', () => {
  expect(dynamicMicroBatches([9, 9, 9], 9)).toEqual([[0], [2], [1]])
})

test('what cannot be parted is refused', () => {
  expect(() => balancedPartitions([1, 2], 3, { equalSize: false })).toThrow(/3 partitions/)
  expect(() => balanceBatch([1, 2, 3], 2)).toThrow(/equal size: 3 items/)
  expect(() => dynamicMicroBatches([5, 6], 5)).toThrow(/longest sequence, 6, got 5/)
})
