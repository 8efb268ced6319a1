import { expect, test } from 'vitest'
import { StartClock } from './start_clock.ts'

test('the start of the first run is timed, once', () => {
  const clock = new StartClock()
  expect(clock.hear('preparing', 100)).toBeUndefined()
  expect(clock.isOver).toBe(false)
  expect(clock.hear('running', 7100)).toBe(7000)
  expect(clock.isOver).toBe(true)
  expect([clock.hear('preparing', 9000), clock.hear('running', 9500)]).toEqual([
    undefined,
    undefined,
  ])
})

test('a start that was broken off says nothing, and the next one is timed from its own beginning', () => {
  const clock = new StartClock()
  clock.hear('preparing', 0)
  expect(clock.hear('idle', 50)).toBeUndefined()
  clock.hear('preparing', 1000)
  expect(clock.hear('running', 3000)).toBe(2000)
})

test('a run that was already on says only that its kernels are compiled', () => {
  const clock = new StartClock()
  expect(clock.hear('running', 10)).toBeUndefined()
  expect(clock.isOver).toBe(true)
})
