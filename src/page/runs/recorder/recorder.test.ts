import { expect, test } from 'vitest'
import { GENERATION } from '../../../host/protocol/testing.ts'
import type { RunHeader } from '../../../record/run/record.ts'
import { memoryStorage, type RunStorage, type RunWrite } from '../../../record/run/storage.ts'
import { arithmetic } from '../../../tasks/tokenizers/arithmetic.ts'
import { readHeader, readRun, readSeries } from '../record/read.ts'
import { begun, recorderOn, sampleOf, stepEvent, told } from '../testing.ts'
import { FLUSH_MS, FLUSH_STEPS, RETRY_MS } from './recorder.ts'

const REWARD = 'critic/score/mean'

/** Memory that remembers every write, and fails on demand. */
function watched() {
  const memory = memoryStorage()
  const writes: RunWrite[] = []
  const trouble: { error: Error | undefined } = { error: undefined }
  const storage: RunStorage = {
    ...memory,
    write: async (write) => {
      if (trouble.error) throw trouble.error
      writes.push(structuredClone(write))
      await memory.write(write)
    },
  }
  return { storage, writes, trouble }
}

const valuesOf = async (storage: RunStorage, id: string) => {
  const stored = await storage.read(id)
  const series = readSeries(stored?.chunks ?? []).get(REWARD)
  return [...(series?.values.slice(0, series.length) ?? [])]
}

test('a run is written from its first step on, in parts that hold only what is new', async () => {
  const { storage, writes } = watched()
  const { recorder, pass, settle } = recorderOn(storage)
  let state = begun(1)
  recorder.see(state)
  await settle()
  expect(writes).toEqual([])
  state = told(state, { type: 'status', run: 1, status: 'running' }, stepEvent(1, 0))
  recorder.see(state)
  state = told(state, stepEvent(1, 1), stepEvent(1, 2))
  recorder.see(state)
  await pass(FLUSH_MS)
  state = told(state, stepEvent(1, 3))
  recorder.see(state)
  await pass(FLUSH_MS)
  expect(writes.map(({ chunk }) => [...(chunk?.columns[REWARD]?.steps ?? [])])).toEqual([
    [0, 1, 2],
    [3],
  ])
  expect(writes.at(-1)?.header).toMatchObject({
    id: 'run-1',
    status: 'running',
    step: 3,
    adapter: 'Test adapter',
    started_at: 1000,
    summaries: { [REWARD]: { count: 4, last: 0.3 } },
  })
})

test('many steps are written before the time is over, and a change of status at once', async () => {
  const { storage, writes } = watched()
  const { recorder, settle } = recorderOn(storage)
  let state = told(begun(1), { type: 'status', run: 1, status: 'running' }, stepEvent(1, 0))
  recorder.see(state)
  state = told(state, ...Array.from({ length: FLUSH_STEPS }, (_, i) => stepEvent(1, i + 1)))
  recorder.see(state)
  await settle()
  expect(writes.at(-1)?.header.step).toBe(FLUSH_STEPS)
  state = told(state, { type: 'status', run: 1, status: 'finished' })
  recorder.see(state)
  await settle()
  expect(writes.at(-1)?.header).toMatchObject({ status: 'finished', ended_at: 1000 })
})

test('what could not be written is written with the next part, once', async () => {
  const { storage, writes, trouble } = watched()
  const { recorder, pass, problems } = recorderOn(storage)
  let state = told(begun(1), { type: 'status', run: 1, status: 'running' }, stepEvent(1, 0))
  recorder.see(state)
  await pass(FLUSH_MS)
  trouble.error = Object.assign(new Error('full'), { name: 'QuotaExceededError' })
  state = told(state, stepEvent(1, 1))
  recorder.see(state)
  await pass(FLUSH_MS)
  expect(problems.at(-1)).toBe(trouble.error)
  state = told(state, stepEvent(1, 2))
  recorder.see(state)
  await pass(FLUSH_MS)
  trouble.error = undefined
  await pass(RETRY_MS)
  expect(problems.at(-1)).toBeUndefined()
  expect(writes).toHaveLength(2)
  expect(await valuesOf(storage, 'run-1')).toEqual([0, 0.1, 0.2])
})

test('a run that gives way to another one is stopped, and both are kept', async () => {
  const { storage } = watched()
  const { recorder, settle, pass } = recorderOn(storage)
  recorder.see(told(begun(1), { type: 'status', run: 1, status: 'running' }, stepEvent(1, 0)))
  recorder.see(begun(2))
  await settle()
  recorder.see(told(begun(2), { type: 'status', run: 2, status: 'running' }, stepEvent(2, 0)))
  await pass(FLUSH_MS)
  const { headers } = await storage.list()
  expect(headers.map((header) => (header as RunHeader).status)).toEqual(['stopped', 'running'])
})

test('a finished run that gave way and comes back is neither written again nor twice', async () => {
  const { storage, writes } = watched()
  const { recorder, settle, pass } = recorderOn(storage)
  const state = told(begun(1), stepEvent(1, 0), stepEvent(1, 1), {
    type: 'status',
    run: 1,
    status: 'finished',
  })
  recorder.see(state)
  await pass(FLUSH_MS)
  const rest = { ...begun(2), runExperiment: undefined, runDocument: undefined, record: '' }
  recorder.see(rest)
  await settle()
  expect(recorder.current()).toBeUndefined()
  recorder.see({ ...state, keptVersion: 9 })
  await pass(FLUSH_MS)
  expect(recorder.current()).toBe('run-1')
  expect(writes.filter(({ chunk }) => chunk)).toHaveLength(1)
  expect(await valuesOf(storage, 'run-1')).toEqual([0, 0.1])

  // Deleted while another experiment was on the page: undo brings it to the page, and not to the
  // list.
  recorder.see(rest)
  recorder.forget(['run-1'])
  await settle()
  const count = writes.length
  recorder.see({ ...state, keptVersion: 10 })
  await pass(FLUSH_MS)
  expect(writes).toHaveLength(count)
})

test('a run that is deleted is not written again', async () => {
  const { storage, writes } = watched()
  const { recorder, pass } = recorderOn(storage)
  let state = told(begun(1), stepEvent(1, 0), { type: 'status', run: 1, status: 'finished' })
  recorder.see(state)
  await pass(FLUSH_MS)
  recorder.forget(['run-1'])
  await storage.remove(['run-1'])
  state = { ...state, keptVersion: 9 }
  recorder.see(state)
  await pass(FLUSH_MS)
  expect(writes).toHaveLength(1)
  expect(recorder.current()).toBeUndefined()
})

test('a record is read back as the run it was', async () => {
  const { storage } = watched()
  const { recorder, pass } = recorderOn(storage)
  const state = told(
    begun(1),
    { type: 'status', run: 1, status: 'running' },
    { type: 'phase', run: 1, step: 0, phase: 0, reason: 'start' },
    stepEvent(1, 0),
    { type: 'samples', run: 1, step: 0, samples: [sampleOf(0)] },
    { type: 'generations', run: 1, step: 0, generations: [GENERATION] },
    stepEvent(1, 1, { [REWARD]: Number.NaN, other: 4 }),
    { type: 'samples', run: 1, step: 1, samples: [sampleOf(1), sampleOf(1, '1 2 3')] },
    { type: 'status', run: 1, status: 'finished' },
  )
  recorder.see(state)
  await pass(FLUSH_MS)
  const stored = await storage.read('run-1')
  if (!stored) throw new Error('nothing was stored')
  const read = readHeader(stored.header)
  if (!read.ok) throw new Error(read.why)
  const past = readRun(read.header, stored, 3)
  expect(past.unreadable).toBe(0)
  expect(past.state).toMatchObject({
    status: 'finished',
    run: -3,
    step: 1,
    experiment: state.runExperiment,
    tokens: arithmetic.tokens,
    phase_switches: state.phase_switches,
    samples: state.samples,
    metrics: { other: 4 },
  })
  expect(past.state.series.get(REWARD)?.values.slice(0, 2)).toEqual(
    new Float64Array([0, Number.NaN]),
  )
  expect(past.state.kept.samples.items.map(({ step }) => step)).toEqual([0, 1])
  expect(past.state.kept.generations.items).toEqual(state.kept.generations.items)
  expect(past.state.kept.generations.at(undefined)).toMatchObject({ step: 0, item: [GENERATION] })
  // What is no answer is counted, not believed.
  const item = { run: 'run-1', kind: 'generations', step: 1, bytes: 1, item: [{ input: 3 }] }
  const spoilt = readRun(read.header, { ...stored, items: [...stored.items, item] }, 4)
  expect(spoilt.unreadable).toBe(1)
})
