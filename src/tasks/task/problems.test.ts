import fc from 'fast-check'
import { expect, test } from 'vitest'

import { splitProblems } from './problems.ts'

test('held-out and training problems are disjoint and together all of them', () => {
  fc.assert(
    fc.property(fc.integer({ min: 5, max: 300 }), fc.string(), (total, name) => {
      const { test_size, draw } = splitProblems(name, total)
      const test = new Set(Array.from({ length: test_size }, (_, i) => draw(0, i, 'test').problem))
      const train = new Set(
        // Each training problem is missed by 20 · total draws with probability e^-20.
        Array.from({ length: 20 * total }, (_, i) => draw(0, i, 'train').problem),
      )
      expect(test.size).toBe(Math.floor(total / 5))
      expect(train.size).toBe(total - test_size)
      expect([...train].every((problem) => !test.has(problem))).toBe(true)
      expect(Math.max(...test, ...train)).toBe(total - 1)
      expect(Math.min(...test, ...train)).toBe(0)
    }),
    { numRuns: 30 },
  )
})

test('the training set is every training problem once, in an order that no seed changes', () => {
  const { test_size, train_size, draw } = splitProblems('set', 100)
  expect([test_size, train_size]).toEqual([20, 80])
  const numbers = (seed: number, first: number) =>
    Array.from({ length: train_size }, (_, i) => draw(seed, first + i, 'train_set').problem)
  const heldOut = Array.from({ length: test_size }, (_, i) => draw(0, i, 'test').problem)
  const all = [...numbers(1, 0), ...heldOut].toSorted((a, b) => a - b)
  expect(all).toEqual(Array.from({ length: 100 }, (_, i) => i))
  expect(numbers(2, 0)).toEqual(numbers(1, 0))
  expect(numbers(1, train_size)).toEqual(numbers(1, 0))
  // A demonstration of one problem is the same in every epoch, and another one for other seeds.
  const chance = (seed: number, index: number) => draw(seed, index, 'train_set').chance
  expect(chance(1, 3 + train_size)).toBe(chance(1, 3))
  expect(chance(2, 3)).not.toBe(chance(1, 3))
  const chances = Array.from({ length: train_size }, (_, i) => chance(1, i))
  expect(new Set(chances).size).toBe(train_size)
})

test('at most 512 problems are held out', () => {
  expect(splitProblems('many', 8100).test_size).toBe(512)
  expect(splitProblems('most', 2 ** 32).test_size).toBe(512)
})

test('training draws are uniform over the training problems', () => {
  const { draw } = splitProblems('uniform', 50)
  const counts = new Map<number, number>()
  const draws = 40_000
  for (let i = 0; i < draws; i++) {
    const { problem } = draw(3, i, 'train')
    counts.set(problem, (counts.get(problem) ?? 0) + 1)
  }
  const expected = draws / 40
  const chiSquared = [...counts.values()].reduce(
    (sum, n) => sum + (n - expected) ** 2 / expected,
    0,
  )
  expect(counts.size).toBe(40)
  // 39 degrees of freedom: mean 39, standard deviation 8.8. A draw without chance would be near 0,
  // a skewed one far above.
  expect(chiSquared).toBeGreaterThan(5)
  expect(chiSquared).toBeLessThan(83)
})

test('the chance is uniform, also among the draws of one problem', () => {
  const { draw } = splitProblems('chance', 50)
  const chances = new Map<number, number[]>()
  for (let i = 0; i < 40_000; i++) {
    const { problem, chance } = draw(1, i, 'train')
    chances.set(problem, [...(chances.get(problem) ?? []), chance])
  }
  for (const ofOne of chances.values()) {
    expect(Math.min(...ofOne)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...ofOne)).toBeLessThan(1)
    // Some 1000 draws: standard error of the mean 0.29 / √1000 = 0.009, of the share below 0.1 as
    // much.
    const mean = ofOne.reduce((a, b) => a + b, 0) / ofOne.length
    expect(Math.abs(mean - 0.5)).toBeLessThan(0.046)
    const low = ofOne.filter((chance) => chance < 0.1).length / ofOne.length
    expect(Math.abs(low - 0.1)).toBeLessThan(0.046)
  }
})

test('a draw depends on seed, name and index, and on every bit of them', () => {
  const { draw } = splitProblems('one', 2 ** 31)
  const other = splitProblems('other', 2 ** 31)
  const base = draw(1, 1, 'train')
  expect(draw(1, 1, 'train')).toEqual(base)
  for (const changed of [
    draw(2, 1, 'train'),
    draw(1, 2, 'train'),
    draw(1 + 2 ** 32, 1, 'train'),
    draw(1, 1 + 2 ** 32, 'train'),
    other.draw(1, 1, 'train'),
  ]) {
    expect(changed.problem).not.toBe(base.problem)
    expect(changed.chance).not.toBe(base.chance)
  }
})

test('a broken index or a count of problems too small or too large is an error', () => {
  const { draw } = splitProblems('errors', 100)
  for (const index of [-1, 0.5, Number.NaN])
    expect(() => draw(0, index, 'train')).toThrow(`whole index from 0, got ${index}`)
  for (const total of [4, 2 ** 32 + 1, 7.5])
    expect(() => splitProblems('x', total)).toThrow(`of x, got ${total}`)
})
