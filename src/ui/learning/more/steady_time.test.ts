// The time left goes down as clocks do, whatever the newest steps took.
import { expect, test } from 'vitest'
import { shortDuration, steadied, type Told } from './steady_time.ts'

test('an estimate that jumps is said without a jump, and in the end as it is', () => {
  const fresh = (atMs: number, seconds: number): Told => ({ of: 'run 1', atMs, seconds })
  let told = steadied(undefined, fresh(0, 40))
  expect(told.seconds).toBe(40)
  const said = [70, 35, 69, 34].map((seconds, i) => {
    told = steadied(told, fresh(1000 * (i + 1), seconds))
    return told.seconds
  })
  const changes = said.map((seconds, i) => Math.abs(seconds - (said[i - 1] ?? 40)))
  expect(Math.max(...changes)).toBeLessThan(7)
  for (let s = 5; s < 40; s++) told = steadied(told, fresh(1000 * s, 70 - s))
  expect(told.seconds).toBeCloseTo(31, 0)
  // After a pause, in another run and under another plan the new estimate is told at once.
  expect(steadied(told, fresh(900_000, 20)).seconds).toBeCloseTo(20, 5)
  expect(steadied(told, { ...fresh(40_000, 90), of: 'run 2' }).seconds).toBe(90)
})

test('no more digits are said than a time deserves', () => {
  const words = [4.4, 19, 52, 58, 214, 234, 299, 748, 7300].map((s) => shortDuration(s))
  expect(words).toEqual([
    '4 s',
    '19 s',
    '50 s',
    '1 min',
    '3 min 30 s',
    '3 min 50 s',
    '5 min',
    '12 min',
    '2 h 02 min',
  ])
})
