import { afterEach, expect, test, vi } from 'vitest'
import { memoryFiles } from './memory_files.ts'
import { makeRoom, once } from './room.ts'

/** Three runs of three checkpoints of 10 bytes, and a page that lets them go. */
async function kept() {
  let clock = 0
  const files = memoryFiles(() => ++clock)
  for (const step of [1, 2, 3])
    for (const record of ['old', 'pinned', 'living'])
      await files.write(record, step, new Uint8Array(10))
  const steps = async (record: string) => (await files.list(record)).map(({ step }) => step)
  const keepTo = (totalBytes: number) =>
    makeRoom({
      list: () => files.list(),
      remove: (record, step) => files.remove(record, [step]),
      held: async () => new Set(['living']),
      isKept: (record) => record === 'pinned',
      totalBytes: () => totalBytes,
    })
  return { files, steps, keepTo }
}

test('the oldest of runs that are over go, until the rest has room', async () => {
  const { steps, keepTo } = await kept()
  expect(await keepTo(90)).toBe(0)
  expect(await keepTo(80)).toBe(1)
  expect(await steps('old')).toEqual([2, 3])
  // Nothing else may go: the last sound one of a run, and all of one that is pinned or continues.
  expect(await keepTo(0)).toBe(1)
  expect(await steps('old')).toEqual([3])
  expect(await steps('pinned')).toEqual([1, 2, 3])
  expect(await steps('living')).toEqual([1, 2, 3])
})

afterEach(() => vi.useRealTimers())

test('many wishes are one piece of work, one at a time, also after one that failed', async () => {
  vi.useFakeTimers()
  let begun = 0
  let fail: (error: Error) => void = () => {}
  const ask = once(() => {
    begun++
    return new Promise((_, reject) => {
      fail = reject
    })
  }, 100)
  for (let i = 0; i < 5; i++) ask()
  expect(begun).toBe(0)
  await vi.advanceTimersByTimeAsync(100)
  expect(begun).toBe(1)
  ask()
  await vi.advanceTimersByTimeAsync(500)
  expect(begun).toBe(1)
  fail(new Error('busy'))
  await vi.advanceTimersByTimeAsync(100)
  expect(begun).toBe(2)
})
