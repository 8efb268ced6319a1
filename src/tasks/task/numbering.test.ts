import { expect, test } from 'vitest'
import { binomial, choices, numberKinds, subset } from './numbering.ts'

test('every problem of small kinds has one number', () => {
  const { total, at } = numberKinds([3n, 10n, 1n])
  expect(total).toBe(14)
  const found = Array.from({ length: total }, (_, i) => at(i))
  const of = (kind: number) => found.filter((one) => one.kind === kind).map(({ index }) => index)
  expect(of(0).sort()).toEqual([0n, 1n, 2n])
  expect(of(1).toSorted((a, b) => Number(a - b))).toEqual(
    Array.from({ length: 10 }, (_, i) => BigInt(i)),
  )
  expect(of(2)).toEqual([0n])
})

test('of a kind that is too large some problems are numbered, all different, from all over it', () => {
  const size = 26n ** 16n
  const { total, at } = numberKinds([size])
  expect(total).toBe(2 ** 20)
  const found = Array.from({ length: 4000 }, (_, i) => at(i * 261).index)
  expect(new Set(found).size).toBe(4000)
  const quarters = [0, 1, 2, 3].map(
    (quarter) => found.filter((index) => (index * 4n) / size === BigInt(quarter)).length,
  )
  for (const count of quarters) expect(Math.abs(count - 1000)).toBeLessThan(100)
})

test('choices are digits in mixed bases', () => {
  expect(choices(0n, [2, 3, 5])).toEqual([0, 0, 0])
  expect(choices(29n, [2, 3, 5])).toEqual([1, 2, 4])
  expect(choices(7n, [2, 3, 5])).toEqual([0, 1, 2])
})

test('an empty kind is an error', () => {
  expect(() => numberKinds([3n, 0n])).toThrow(/at least one problem/)
})

test('at most as many of a kind as are asked for', () => {
  const { total, at } = numberKinds([3n, 1000n], 10)
  expect(total).toBe(13)
  expect(new Set(Array.from({ length: 13 }, (_, i) => `${at(i).kind} ${at(i).index}`)).size).toBe(
    13,
  )
})

test('subsets are all there, each once', () => {
  expect(binomial(6, 3)).toBe(20n)
  const all = Array.from({ length: 20 }, (_, i) => subset(BigInt(i), 6, 3).join())
  expect(new Set(all).size).toBe(20)
  expect([all[0], all[19]]).toEqual(['0,1,2', '3,4,5'])
  expect(subset(0n, 4, 0)).toEqual([])
})
