// How often a picture is painted while a run grows.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { atMostEvery } from './plot_hooks.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('calls are at once where they are rare, and the last of many is not lost', () => {
  const draw = vi.fn()
  const { call } = atMostEvery(100, draw)
  call()
  expect(draw).toHaveBeenCalledTimes(1)
  for (let i = 0; i < 5; i++) {
    vi.advanceTimersByTime(10)
    call()
  }
  expect(draw).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(50)
  expect(draw).toHaveBeenCalledTimes(2)
  vi.advanceTimersByTime(1000)
  expect(draw).toHaveBeenCalledTimes(2)
  call()
  expect(draw).toHaveBeenCalledTimes(3)
})

test('at every frame nothing waits, and nothing is drawn after the end', () => {
  const draw = vi.fn()
  const always = atMostEvery(0, draw)
  for (let i = 0; i < 3; i++) always.call()
  expect(draw).toHaveBeenCalledTimes(3)
  const { call, cancel } = atMostEvery(100, draw)
  call()
  call()
  cancel()
  vi.advanceTimersByTime(1000)
  expect(draw).toHaveBeenCalledTimes(4)
})
