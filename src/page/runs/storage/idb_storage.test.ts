import { afterEach, expect, test, vi } from 'vitest'
import { openStorage } from './idb_storage.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

test('a database that never opens is given up, with the reason, and runs are kept in memory', async () => {
  vi.useFakeTimers()
  class Request extends EventTarget {}
  vi.stubGlobal('IDBRequest', Request)
  vi.stubGlobal('indexedDB', { open: () => new Request() })
  const opening = openStorage()
  await vi.advanceTimersByTimeAsync(31_000)
  const { storage, whyMemory } = await opening
  expect(whyMemory).toMatch(/did not open its database within 30 s; close other tabs/)
  expect(await storage.list()).toEqual({ headers: [], labels: [] })
})
