import { expect, test, vi } from 'vitest'
import { lastRun, rememberLastRun } from './last_run.ts'
import type { RunEntry } from './library_store.ts'

const entry = (id: string, started_at: number) => ({ id, header: { started_at } }) as RunEntry
/** As the library sorts them: the run that began after the clock was set back comes second. */
const entries = [entry('before', 9000), entry('after', 1000)]

test('the run that began last is found though the clock was set back before it', () => {
  const kept = new Map<string, string>()
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  })
  expect(lastRun(entries)?.id).toBe('before')
  rememberLastRun('after')
  expect(lastRun(entries)?.id).toBe('after')
  vi.unstubAllGlobals()
})

test('where nothing is remembered, or the run is deleted, the newest by the clock counts', () => {
  expect(lastRun(entries)?.id).toBe('before')
  expect(lastRun(entries, 'deleted')?.id).toBe('before')
  expect(lastRun([])).toBeUndefined()
})
