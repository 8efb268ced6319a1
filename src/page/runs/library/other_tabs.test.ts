import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { RunHeader } from '../../../record/run/record.ts'
import { memoryStorage, type RunStorage } from '../../../record/run/storage.ts'
import { begun, recorderOn, stepEvent, testLocks, told } from '../testing.ts'

/** A tab of its own: every module again, the same storage and the same locks. */
async function openTab(storage: RunStorage) {
  vi.resetModules()
  const library = { ...(await import('./library_store.ts')), ...(await import('./library.ts')) }
  const locks = await import('../storage/locks.ts')
  const { followOtherTabs } = await import('./other_tabs.ts')
  const { tellTabs } = await import('./tabs.ts')
  await library.openLibrary(storage, '', await locks.heldRuns())
  ends.push(followOtherTabs())
  /** As the recorder of this tab does. */
  const write = async (said: RunHeader) => {
    await storage.write({ header: said, chunk: undefined, items: [], dropped: [] })
    library.addRun(said)
    tellTabs({ header: said })
  }
  const statusOf = (id: string) => library.runOf(id)?.header.status
  return { ...library, ...locks, write, statusOf }
}

let ends: (() => void)[]
let storage: RunStorage
let header: RunHeader

beforeEach(async () => {
  ends = []
  vi.stubGlobal('navigator', { locks: testLocks() })
  const memory = memoryStorage()
  const { recorder } = recorderOn(memory)
  recorder.see(told(begun(1), stepEvent(1, 0), { type: 'status', run: 1, status: 'finished' }))
  await recorder.flush()
  header = { ...((await memory.list()).headers[0] as RunHeader), id: 'a', status: 'stopped' }
  storage = memoryStorage()
  await storage.write({ header, chunk: undefined, items: [], dropped: [] })
})
afterEach(() => {
  for (const end of ends) end()
  vi.unstubAllGlobals()
})

test('a run that another tab has gone on with is not deleted, whatever this list says of it', async () => {
  const [one, two] = [await openTab(storage), await openTab(storage)]
  await one.claimRun('a')
  // The second tab has heard nothing yet.
  expect(two.statusOf('a')).toBe('stopped')
  expect(await two.deleteRuns(['a'])).toContain('is not deleted: another tab is at work there')
  expect(two.libraryStore.getState().deleted).toEqual([])
  await two.commitDelete()
  expect((await storage.list()).headers).toHaveLength(1)
  one.releaseRun('a')
  expect(await two.deleteRuns(['a'])).toBe('')
  await two.commitDelete()
  expect((await storage.list()).headers).toHaveLength(0)
})

test('a run that is being deleted is taken: no other tab continues with it, until that is undone', async () => {
  const [one, two] = [await openTab(storage), await openTab(storage)]
  await two.deleteRuns(['a'])
  expect(await one.claimRun('a')).toBe(false)
  two.undoDelete(['a'])
  await vi.waitFor(async () => expect(await one.claimRun('a')).toBe(true))
})

test('a deletion that an earlier page began spares a run that a tab is at work on', async () => {
  const kept = new Map([['understory.deleting', '["a"]']])
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
    removeItem: (key: string) => kept.delete(key),
  })
  const one = await openTab(storage)
  await one.claimRun('a')
  await openTab(storage)
  const { deleteForGood } = await import('../storage/deletions.ts')
  expect(await deleteForGood(storage, [])).toEqual(['a'])
  expect((await storage.list()).headers).toHaveLength(1)
  expect(kept.size).toBe(0)
})

test('every tab lists what another one writes, names and deletes', async () => {
  const [one, two] = [await openTab(storage), await openTab(storage)]
  await one.claimRun('b')
  await one.write({ ...header, id: 'b', status: 'running' })
  await vi.waitFor(() => expect(two.statusOf('b')).toBe('running'))
  await one.write({ ...header, id: 'b', status: 'finished', step: 9 })
  await vi.waitFor(() => expect(two.statusOf('b')).toBe('finished'))
  expect(two.runOf('b')?.header.step).toBe(9)
  one.labelRun('b', { name: 'mine', color: 5 })
  await vi.waitFor(() => expect(two.runOf('b')?.labels).toMatchObject({ name: 'mine', color: 5 }))
  await two.deleteRuns(['a'])
  await two.commitDelete()
  await vi.waitFor(() => expect(one.runOf('a')).toBeUndefined())
})

test('a run whose tab was closed without a word is left in the lists of the others', async () => {
  const [one, two] = [await openTab(storage), await openTab(storage)]
  await one.claimRun('b')
  await one.write({ ...header, id: 'b', status: 'running' })
  await vi.waitFor(() => expect(two.statusOf('b')).toBe('running'))
  one.releaseRun('b')
  await vi.waitFor(() => expect(two.statusOf('b')).toBe('stopped'))
  expect(two.runOf('b')?.header.was_left).toBe(true)
})

test('a message that is no record changes nothing', async () => {
  const two = await openTab(storage)
  const other = new BroadcastChannel('understory.runs')
  for (const told of [null, 3, { header: { id: 'a' } }, { labels: { id: 'z' } }, { removed: 'a' }])
    other.postMessage(told)
  other.postMessage({ labels: { id: 'a', name: 7, color: 900 } })
  other.postMessage({ labels: { id: 'a', name: 'last' } })
  await vi.waitFor(() => expect(two.runOf('a')?.labels.name).toBe('last'))
  expect(two.libraryStore.getState().entries).toHaveLength(1)
  other.close()
})
