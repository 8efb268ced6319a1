import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CheckpointEntry } from '../protocol/checkpoint_facts.ts'
import { DEFAULT_SCHEDULE, isDue, retained, surplusCheckpoints } from './schedule.ts'

describe('isDue', () => {
  test('waits for the steps and for the time, whichever is later', () => {
    const due = (ms: number, step: number) => isDue(5000 + ms, 5000, step, 40, DEFAULT_SCHEDULE)
    expect(due(9_999, 400)).toBe(false)
    expect(due(60_000, 49)).toBe(false)
    expect(due(10_000, 50)).toBe(true)
    expect(due(60_000, 50)).toBe(true)
  })

  test('one state is never written twice', () => {
    const always = { every_steps: 0, every_ms: 0 }
    expect(isDue(1, 0, 7, 7, always)).toBe(false)
    expect(isDue(1, 0, 8, 7, always)).toBe(true)
  })
})

describe('retained', () => {
  const entries = (steps: readonly number[], bytes = 10) => steps.map((step) => ({ step, bytes }))

  test('keeps all that fits', () => {
    expect(retained(entries([30, 10, 20]), 30)).toEqual([10, 20, 30])
    expect(retained([], 0)).toEqual([])
  })

  test('keeps the first and the newest two, and lets even the first go when there is no room', () => {
    expect(retained(entries([10, 20, 30, 40, 50]), 30)).toEqual([10, 40, 50])
    expect(retained(entries([10, 20, 30, 40, 50]), 29)).toEqual([40, 50])
    expect(retained(entries([10, 20, 30, 40, 50]), 0)).toEqual([40, 50])
    expect(retained(entries([50], 1e9), 0)).toEqual([50])
  })

  test('those at the ends of phases go after the others', () => {
    const all = entries([5, 10, 20, 27, 30, 40, 50])
    expect(retained(all, 50, [20, 30])).toEqual([5, 20, 30, 40, 50])
    expect(retained(all, 40, [20, 30])).toHaveLength(4)
    expect(retained(all, 20, [20, 30])).toEqual([40, 50])
  })

  test('a long run that lets go of one at a time keeps some of its whole length', () => {
    fc.assert(
      fc.property(fc.integer({ min: 6, max: 30 }), fc.integer({ min: 60, max: 300 }), (room, n) => {
        let steps: number[] = []
        for (let i = 1; i <= n; i++) steps = retained(entries([...steps, 10 * i], 1), room)
        expect(steps).toHaveLength(room)
        expect(steps[0]).toBe(10)
        expect(steps.slice(-2)).toEqual([10 * (n - 1), 10 * n])
        const gaps = steps.slice(1).map((step, i) => step - steps[i])
        // Evenly spread, each gap would be 10n / room; old ones are wider.
        expect(Math.max(...gaps)).toBeLessThan((4 * 10 * n) / (room - 2))
      }),
      { numRuns: 50 },
    )
  })
})

describe('what goes so that all runs keep to a budget', () => {
  const made = (record: string, ...steps: number[]): CheckpointEntry[] =>
    steps.map((step) => ({ record, step, bytes: 10, written_at: step }))
  const all = [...made('a', 1, 4, 7), ...made('b', 2, 5, 8), ...made('c', 3, 6)]
  const gone = (totalBytes: number, kept: readonly string[] = []) =>
    surplusCheckpoints(all, totalBytes, (record) => !kept.includes(record)).map(
      ({ record, step }) => `${record}${step}`,
    )

  test('the oldest first, whatever run they are of', () => {
    expect(gone(80)).toEqual([])
    expect(gone(79)).toEqual(['a1'])
    expect(gone(50)).toEqual(['a1', 'b2', 'c3'])
  })

  test('never the newest of a run, nor any of a run that is pinned or in training', () => {
    expect(gone(0)).toEqual(['a1', 'b2', 'c3', 'a4', 'b5'])
    expect(gone(0, ['a'])).toEqual(['b2', 'c3', 'b5'])
    expect(gone(0, ['a', 'b', 'c'])).toEqual([])
  })
})
