import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { memoryStorage } from '../../../record/run/storage.ts'
import { begunDeletions, deleteForGood } from './deletions.ts'

const KEY = 'understory.deleting'
let kept: Map<string, string>
beforeEach(() => {
  kept = new Map()
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
    removeItem: (key: string) => kept.delete(key),
  })
})
afterEach(() => vi.unstubAllGlobals())

test('a deletion is remembered until it has ended', async () => {
  const removed: string[][] = []
  const storage = memoryStorage()
  const remove = async (ids: readonly string[]) => {
    expect(begunDeletions()).toEqual(ids)
    removed.push([...ids])
  }
  await deleteForGood({ ...storage, remove }, ['a', 'b'])
  expect(removed).toEqual([['a', 'b']])
  expect(kept.size).toBe(0)
})

test('what a closed page or a full disk interrupted is tried again with the next one', async () => {
  const storage = memoryStorage()
  const failing = { ...storage, remove: () => Promise.reject(new Error('no')) }
  await expect(deleteForGood(failing, ['a'])).rejects.toThrow('no')
  expect(begunDeletions()).toEqual(['a'])
  const remove = vi.fn(async () => {})
  await deleteForGood({ ...storage, remove }, [])
  expect(remove).toHaveBeenCalledWith(['a'])
  expect(begunDeletions()).toEqual([])
  await deleteForGood({ ...storage, remove }, [])
  expect(remove).toHaveBeenCalledTimes(1)
})

test('what is remembered is believed only where it is a list of ids', async () => {
  for (const text of ['{', '{"a":1}', 'null', `["${'x'.repeat(101)}", 3, null]`]) {
    kept.set(KEY, text)
    expect(begunDeletions()).toEqual([])
  }
  kept.set(KEY, '["../a"]')
  const remove = vi.fn(async () => {})
  await deleteForGood({ ...memoryStorage(), remove }, [])
  expect(remove).toHaveBeenCalledWith(['../a'])
})
