import { expect, test } from 'vitest'
import { stageTimes } from './stage_clock.ts'

/** Nanoseconds as pairs of words, low word first. */
const words = (...times: number[]) =>
  Uint32Array.from(times.flatMap((ns) => [ns % 2 ** 32, Math.floor(ns / 2 ** 32)]))

test('pairs of stamps are seconds, and a stage that was left and entered again adds up', () => {
  const start = 5 * 2 ** 32 - 1000
  const stamps = words(start, start + 2e6, start + 3e6, start + 4e6, start + 5e6, start + 5.5e6)
  const times = stageTimes(['gen', 'update_actor', 'gen'], stamps)
  expect(times.gen).toBeCloseTo(2.5e-3, 12)
  expect(times.update_actor).toBeCloseTo(1e-3, 12)
})

test('a clock that stops or steps back says nothing', () => {
  expect(stageTimes(['a', 'b'], words(7, 7, 9, 8))).toEqual({})
})
