import { expect, test } from 'vitest'
import { TurnClock } from './turn_clock.ts'

test('the time of runs that are on together is shared', () => {
  let now = 0
  const clock = new TurnClock(() => now)
  now = 5000
  clock.start(1)
  now = 7000
  clock.start(2)
  now = 11_000
  expect(clock.end(1)).toBe(2 + 2)
  now = 12_000
  expect(clock.end(2)).toBe(2 + 1)
})
