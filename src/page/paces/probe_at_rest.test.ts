// An adapter is probed when the page rests, and only where nobody knows it.
import { expect, test, vi } from 'vitest'
import { train } from '../client/controls.ts'
import { adapter, draw, openPage, port, types, withTestPages } from '../client/testing.ts'
import { probeAtRest } from './probe_at_rest.ts'

withTestPages()

const LONG_MS = 10_000
const asked = () => types().filter((type) => type === 'measure').length

function openWith(isKnown: boolean): void {
  openPage('?v=1&p=tiny')
  probeAtRest(() => isKnown)
  port().says({ type: 'adapter', adapter })
  draw()
}

test('a page that rests asks once', () => {
  openWith(false)
  expect(asked()).toBe(0)
  vi.advanceTimersByTime(LONG_MS)
  expect(asked()).toBe(1)
  vi.advanceTimersByTime(LONG_MS)
  expect(asked()).toBe(1)
})

test('nothing is asked of an adapter that is known, nor once a run begins', () => {
  openWith(true)
  vi.advanceTimersByTime(LONG_MS)
  expect(asked()).toBe(0)
  openWith(false)
  train()
  vi.advanceTimersByTime(LONG_MS)
  expect(asked()).toBe(0)
})
