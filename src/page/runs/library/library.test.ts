import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { runName } from '../../../record/run/names.ts'
import type { RunHeader } from '../../../record/run/record.ts'
import { memoryStorage, type RunStorage } from '../../../record/run/storage.ts'
import { begun, recorderOn, stepEvent, told } from '../testing.ts'
import {
  canDelete,
  commitDelete,
  deleteRuns,
  followRecorder,
  labelRun,
  MAX_RUNS,
  openLibrary,
  openRun,
  rawRecord,
  setBaseline,
  surplusRuns,
  UNDO_MS,
  undoDelete,
} from './library.ts'
import { libraryStore, runOf, shownRuns } from './library_store.ts'

let storage: RunStorage
let header: RunHeader
const put = (id: string, said: Partial<RunHeader> = {}) =>
  storage.write({ header: { ...header, id, ...said }, chunk: undefined, items: [], dropped: [] })
const listed = () => shownRuns(libraryStore.getState()).map(({ id }) => id)

beforeEach(async () => {
  const memory = memoryStorage()
  const { recorder } = recorderOn(memory)
  recorder.see(told(begun(1), stepEvent(1, 0), { type: 'status', run: 1, status: 'finished' }))
  await recorder.flush()
  header = (await memory.list()).headers[0] as RunHeader
  storage = memoryStorage()
  for (const [i, id] of ['a', 'b', 'c'].entries()) await put(id, { started_at: i })
  await openLibrary(storage, '', new Set())
})
afterEach(() => vi.useRealTimers())

test('runs are listed newest first, and a broken one does not stop the others', async () => {
  await put('d', { started_at: 9, step: -1 })
  await openLibrary(storage, '', new Set())
  expect(listed()).toEqual(['c', 'b', 'a'])
  expect(libraryStore.getState().broken).toEqual([{ id: 'd', why: expect.stringMatching(/^step/) }])
  await deleteRuns(['d'])
  await commitDelete()
  expect(libraryStore.getState().broken).toEqual([])
})

test('a record that cannot be understood can be taken along as it is', async () => {
  const columns = { loss: { steps: Float64Array.of(0, 1), values: Float64Array.of(2.5, 1.5) } }
  await storage.write({
    header: { ...header, id: 'd', step: -1 },
    chunk: { run: 'd', part: 0, columns },
    items: [],
    dropped: [],
  })
  const raw = JSON.parse((await rawRecord('d')) ?? '')
  expect(raw.header).toMatchObject({ id: 'd', step: -1 })
  expect(raw.chunks[0].columns.loss).toEqual({ steps: [0, 1], values: [2.5, 1.5] })
  expect(await rawRecord('nothing')).toBeUndefined()
})

test('a run that nobody is at work on any more is stopped', async () => {
  await put('left', { status: 'running' })
  await put('held', { status: 'running' })
  await openLibrary(storage, '', new Set(['held']))
  expect(runOf('left')?.header.status).toBe('stopped')
  expect(runOf('held')?.header.status).toBe('running')
})

test('deleted runs can be brought back until the page is left, also when nothing offers it any more', async () => {
  vi.useFakeTimers()
  await deleteRuns(['a'])
  await deleteRuns(['b'])
  expect(listed()).toEqual(['c'])
  await vi.advanceTimersByTimeAsync(UNDO_MS - 1)
  expect(libraryStore.getState().justDeleted).toEqual(['a', 'b'])
  await vi.advanceTimersByTimeAsync(2 * UNDO_MS)
  expect(libraryStore.getState()).toMatchObject({ justDeleted: [], deleted: ['a', 'b'] })
  undoDelete(['a'])
  expect(listed()).toEqual(['c', 'a'])
  undoDelete(['b'])
  expect(listed()).toEqual(['c', 'b', 'a'])
  expect((await storage.list()).headers).toHaveLength(3)
  const forget = vi.fn()
  followRecorder({ forget, retry: () => {} })
  await deleteRuns(['a'])
  await commitDelete()
  expect(libraryStore.getState()).toMatchObject({ justDeleted: [], deleted: [] })
  expect((await storage.list()).headers).toHaveLength(2)
  expect(forget).toHaveBeenCalledWith(['a'])
})

test('a run in progress cannot be deleted', async () => {
  await put('held', { status: 'running', started_at: 9 })
  await openLibrary(storage, '', new Set(['held']))
  await deleteRuns(['held'])
  expect(listed()).toContain('held')
})

test('there is one baseline, no name depends on it, and labels are kept', async () => {
  setBaseline('a')
  setBaseline('b')
  labelRun('b', { name: 'mine', pinned: true })
  const baselines = libraryStore.getState().entries.filter(({ labels }) => labels.baseline)
  expect(baselines.map(({ id }) => id)).toEqual(['b'])
  const [c, b] = libraryStore.getState().entries
  expect(runName(b).name).toBe('mine')
  expect(runName(c)).toMatchObject({ name: 'BuPO (GRPO), layer 2 first', isAutomatic: true })
  await openLibrary(storage, '', new Set())
  expect(runOf('b')?.labels).toMatchObject({ name: 'mine', pinned: true, baseline: true })
})

test('beyond the limit the oldest runs that nobody wants are offered', () => {
  const { entries } = libraryStore.getState()
  const many = Array.from({ length: MAX_RUNS + 2 }, (_, i) => ({
    ...entries[0],
    id: `${i}`,
    labels: { ...entries[0].labels, pinned: i === MAX_RUNS + 1 },
  }))
  expect(surplusRuns(many).map(({ id }) => id)).toEqual([`${MAX_RUNS - 1}`, `${MAX_RUNS}`])
  expect(surplusRuns(entries)).toEqual([])
  expect(entries.every(canDelete)).toBe(true)
})

test('opening a run that is gone says so', async () => {
  await expect(openRun('nothing')).rejects.toThrow('no longer there')
  expect((await openRun('a')).state.run).toBeLessThan(0)
})
