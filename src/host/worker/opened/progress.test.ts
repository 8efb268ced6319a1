import { expect, test } from 'vitest'
import type { ModelProgress } from '../../protocol/opened_model.ts'
import { progressOf } from './progress.ts'

/** What is said of (milliseconds, bytes) of 10,000. */
function said(seen: readonly (readonly [number, number])[]) {
  const all: ModelProgress[] = []
  let clock = 0
  const tell = progressOf(
    'fetching',
    () => clock,
    (progress) => all.push(progress),
  )
  for (const [at, bytes] of seen) {
    clock = at
    tell(bytes, 10_000)
  }
  return all
}

test('how fast and how long still follow from what came since the first call', () => {
  // A download that continues: what was there already did not come in no time.
  const [first, second] = said([
    [0, 4000],
    [1000, 5000],
  ])
  const of = { doing: 'fetching', of: 10_000 }
  expect(first).toEqual({ ...of, bytes: 4000, bytes_per_second: 0, seconds_left: Infinity })
  expect(second).toEqual({ ...of, bytes: 5000, bytes_per_second: 1000, seconds_left: 5 })
})

test('the speed is that of the last five seconds, and the end is always said', () => {
  const slow = Array.from({ length: 10 }, (_, i) => [1000 * i, 100 * i] as const)
  const fast = Array.from({ length: 6 }, (_, i) => [1000 * (10 + i), 1000 + 1000 * i] as const)
  expect(said([...slow, ...fast]).at(-1)?.bytes_per_second).toBe(1000)
  const often = said([
    [0, 0],
    [10, 5000],
    [20, 10_000],
  ])
  expect(often.map(({ bytes }) => bytes)).toEqual([0, 10_000])
})
