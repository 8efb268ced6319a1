import { afterEach, expect, test, vi } from 'vitest'
import * as z from 'zod/mini'
import { remembered } from './remembered.ts'

afterEach(() => vi.unstubAllGlobals())

function storage(kept = new Map<string, string>()) {
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  })
  return kept
}

const size = remembered('size', z.number().check(z.minimum(1)), 7)

test('a value is read as it was written, and forgotten', () => {
  const kept = storage()
  expect(size.get()).toBe(7)
  size.set(3)
  expect([size.get(), kept.get('understory.size')]).toEqual([3, '3'])
  size.forget()
  expect([size.get(), kept.size]).toEqual([7, 0])
})

test('what the storage holds is believed only where it is of this kind', () => {
  const kept = storage()
  for (const text of ['{', '0', '"3"', 'null', '', '[1]']) {
    kept.set('understory.size', text)
    expect(size.get()).toBe(7)
  }
})

test('storage that is full, blocked or missing hinders nobody', () => {
  const refuse = () => {
    throw new DOMException('no', 'QuotaExceededError')
  }
  vi.stubGlobal('localStorage', { getItem: () => '3', setItem: refuse, removeItem: refuse })
  size.set(5)
  size.forget()
  expect(size.get()).toBe(3)
  vi.stubGlobal('localStorage', { getItem: refuse, setItem: refuse })
  size.set(5)
  expect(size.get()).toBe(7)
  vi.stubGlobal('localStorage', undefined)
  size.set(5)
  expect(size.get()).toBe(7)
})

test('a field that is not sound takes no other with it', () => {
  const kept = storage()
  const fields = z.object({ a: z.catch(z.number(), 1), b: z.catch(z.boolean(), false) })
  const both = remembered('both', fields, { a: 1, b: false })
  kept.set('understory.both', '{"a":"x","b":true,"c":1}')
  expect(both.get()).toEqual({ a: 1, b: true })
  kept.set('understory.both', '{}')
  expect(both.get()).toEqual({ a: 1, b: false })
})
