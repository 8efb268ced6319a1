import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Kept } from './kept.ts'

const filled = (budget: number, steps: number) => {
  const kept = new Kept<number>(budget)
  for (let step = 0; step < steps; step++) kept.push(step, step * 10, 1)
  return kept
}

describe('Kept', () => {
  it('finds the newest item at or before a step', () => {
    const kept = new Kept<string>(100)
    kept.push(2, 'a', 1)
    kept.push(5, 'b', 1)
    expect(kept.at(1)).toBeUndefined()
    expect(kept.at(2)?.item).toBe('a')
    expect(kept.at(4)?.item).toBe('a')
    expect(kept.at(5)?.item).toBe('b')
    expect(kept.at(99)?.item).toBe('b')
    expect(kept.at(undefined)?.item).toBe('b')
  })

  it('replaces what the newest step left before', () => {
    const kept = new Kept<string>(100)
    kept.push(2, 'a', 10)
    kept.push(2, 'b', 4)
    expect(kept.items.map(({ item }) => item)).toEqual(['b'])
    expect(kept.bytes).toBe(4)
    expect(() => kept.push(1, 'c', 1)).toThrow('step 1 comes after step 2')
  })

  it('takes what was found out about an earlier step at its place', () => {
    const kept = new Kept<string>(100)
    kept.push(2, 'a', 10)
    kept.push(5, 'b', 10)
    kept.insert(3, 'c', 4)
    kept.insert(2, 'd', 1)
    kept.insert(9, 'e', 2)
    expect(kept.items.map(({ step, item }) => [step, item])).toEqual([
      [2, 'd'],
      [3, 'c'],
      [5, 'b'],
      [9, 'e'],
    ])
    expect(kept.bytes).toBe(17)
    expect(kept.at(4)?.item).toBe('c')
  })

  it('keeps the first and the newest, within its budget, spread over the run', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 40 }),
        fc.integer({ min: 2, max: 600 }),
        (budget, steps) => {
          const kept = filled(budget, steps)
          const found = kept.items.map(({ step }) => step)
          expect(kept.bytes).toBe(Math.min(budget, steps))
          expect(found[0]).toBe(0)
          expect(found.at(-1)).toBe(steps - 1)
          expect([...found].sort((a, b) => a - b)).toEqual(found)
        },
      ),
    )
    const steps = filled(20, 1000).items.map(({ step }) => step)
    // No half of the run without a fifth of what is kept.
    expect(steps.filter((step) => step < 500).length).toBeGreaterThanOrEqual(4)
    expect(steps.filter((step) => step >= 500).length).toBeGreaterThanOrEqual(4)
  })

  it('thins when its budget shrinks, and keeps two items that are too large', () => {
    const kept = filled(20, 20)
    kept.budget = 5
    expect(kept.items).toHaveLength(5)
    expect(kept.at(3)?.item).toBeLessThanOrEqual(30)
    const large = new Kept<number>(10)
    for (let step = 0; step < 4; step++) large.push(step, step, 100)
    expect(large.items.map(({ step }) => step)).toEqual([0, 3])
  })
})
