import { expect, test } from 'vitest'
import { memoryStorage, type RunStorage } from '../../../record/run/storage.ts'
import { begun, recorderOn, stepEvent, told } from '../testing.ts'
import { reopening } from './reopening.ts'

const closedError = () =>
  new DOMException('The database connection is closing.', 'InvalidStateError')

/** A storage whose every call fails once the browser has closed it. */
function closable() {
  const memory = memoryStorage()
  const now = { is_closed: false }
  const guard =
    <A extends unknown[], T>(call: (...args: A) => Promise<T>) =>
    async (...args: A) => {
      if (now.is_closed) throw closedError()
      return call(...args)
    }
  const storage: RunStorage = {
    list: guard(memory.list),
    write: guard(memory.write),
    label: guard(memory.label),
    chunks: async () => [],
    read: guard(memory.read),
    remove: guard(memory.remove),
  }
  return { storage, close: () => (now.is_closed = true) }
}

test('a storage that was closed is opened again, and a write has to begin again', async () => {
  const first = closable()
  const second = memoryStorage()
  const storage = reopening(first.storage, async () => second)
  expect((await storage.list()).headers).toEqual([])
  first.close()
  expect((await storage.list()).headers).toEqual([])
  const again = closable()
  const other = reopening(again.storage, async () => second)
  again.close()
  const write = { header: { id: 'a' } as never, chunk: undefined, items: [], dropped: [] }
  await expect(other.write(write)).rejects.toThrow('closing')
  await other.write(write)
  expect((await second.list()).headers).toEqual([{ id: 'a' }])
})

test('a storage that cannot be opened again is tried again with the next call', async () => {
  const first = closable()
  const second = memoryStorage()
  let tries = 0
  const storage = reopening(first.storage, async () => {
    tries++
    if (tries === 1) throw new Error('not now')
    return second
  })
  first.close()
  await expect(storage.list()).rejects.toThrow('not now')
  expect((await storage.list()).headers).toEqual([])
})

test('a record whose storage was emptied under it is written again, whole, and its labels too', async () => {
  const first = closable()
  const second = memoryStorage()
  const gone: string[] = []
  const { recorder, pass, problems } = recorderOn(
    reopening(first.storage, async () => second),
    { onGone: (id) => gone.push(id) },
  )
  let state = told(begun(1), { type: 'status', run: 1, status: 'running' })
  state = told(state, stepEvent(1, 0), { type: 'samples', run: 1, step: 0, samples: [] })
  recorder.see(state)
  await pass(2000)
  expect((await first.storage.list()).headers).toHaveLength(1)
  first.close()
  state = told(state, stepEvent(1, 1))
  recorder.see(state)
  await pass(2000)
  await pass(0)
  expect(problems.every((problem) => problem === undefined)).toBe(true)
  const stored = await second.read('run-1')
  const chunks = stored?.chunks as { columns: Record<string, { steps: Float64Array }> }[]
  expect([...chunks[0].columns['critic/score/mean'].steps]).toEqual([0, 1])
  expect(stored?.items).toHaveLength(1)
  expect(gone).toEqual(['run-1'])
})
