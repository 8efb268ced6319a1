// A record follows a run that went back, and one that continues in another page.
import { expect, test } from 'vitest'
import type { LabEvent } from '../../../host/protocol/protocol.ts'
import type { RunHeader } from '../../../record/run/record.ts'
import { memoryStorage, type RunStorage } from '../../../record/run/storage.ts'
import type { LabState } from '../../state/store.ts'
import { readHeader, readRun, readSeries } from '../record/read.ts'
import { begun, recorderOn, sampleOf, stepEvent, told } from '../testing.ts'
import { FLUSH_MS, RETRY_MS } from './recorder.ts'

const REWARD = 'critic/score/mean'

const restored = (state: LabState, step: number): LabEvent => ({
  type: 'restored',
  run: state.run,
  why: 'lost',
  step,
  phase: 0,
  phase_step: step,
  experiment: state.experiment,
  document: state.experiment,
  history: {
    series: {
      [REWARD]: {
        steps: Float64Array.from({ length: step + 1 }, (_, i) => i),
        values: Float64Array.from({ length: step + 1 }, (_, i) => i / 10),
      },
    },
    phase_switches: [],
    steered: [],
    verdicts: {},
  },
  kernels: '',
})
const samples = (run: number, step: number, text = `${step}`): LabEvent => ({
  type: 'samples',
  run,
  step,
  samples: [sampleOf(step, text)],
})
const steps = (from: number, to: number, run = 1) =>
  Array.from({ length: to - from + 1 }, (_, i) => [
    stepEvent(run, from + i),
    samples(run, from + i),
  ]).flat()

async function rowsOf(storage: RunStorage, id: string) {
  const stored = await storage.read(id)
  const series = readSeries(stored?.chunks ?? []).get(REWARD)
  const items = (stored?.items ?? []) as { kind: string; step: number }[]
  return {
    steps: [...(series?.steps.slice(0, series.length) ?? [])],
    samples: items.map(({ step }) => step),
  }
}

const running = (run: number): LabEvent => ({ type: 'status', run, status: 'running' })
const upTo = (step: number) => Array.from({ length: step + 1 }, (_, i) => i)

test('a run that went back is written again, in one write, and grows from there', async () => {
  const storage = memoryStorage()
  const { recorder, pass } = recorderOn(storage)
  let state = told(begun(1), running(1), ...steps(0, 5))
  recorder.see(state)
  await pass(FLUSH_MS)
  expect(await rowsOf(storage, 'run-1')).toEqual({ steps: upTo(5), samples: upTo(5) })
  state = told(state, restored(state, 2))
  recorder.see(state)
  await pass(FLUSH_MS)
  expect(await rowsOf(storage, 'run-1')).toEqual({ steps: upTo(2), samples: upTo(2) })
  state = told(state, ...steps(3, 6))
  recorder.see(state)
  await pass(FLUSH_MS)
  expect(await rowsOf(storage, 'run-1')).toEqual({ steps: upTo(6), samples: upTo(6) })
  const { headers } = await storage.list()
  expect(headers).toMatchObject([{ step: 6, summaries: { [REWARD]: { count: 7 } } }])
})

test('a run that goes back between two writes is written as it is now', async () => {
  const storage = memoryStorage()
  const { recorder, pass } = recorderOn(storage)
  let state = told(begun(1), running(1), ...steps(0, 5))
  recorder.see(state)
  await pass(FLUSH_MS)
  state = told(state, restored(state, 2))
  recorder.see(state)
  state = told(state, stepEvent(1, 3))
  recorder.see(state)
  await pass(FLUSH_MS)
  expect(await rowsOf(storage, 'run-1')).toEqual({ steps: upTo(3), samples: upTo(2) })
})

test('a write that fails after the run went back is made up for', async () => {
  const memory = memoryStorage()
  let fails = false
  const storage: RunStorage = {
    ...memory,
    write: (write) => (fails ? Promise.reject(new Error('busy')) : memory.write(write)),
  }
  const { recorder, pass } = recorderOn(storage)
  let state = told(begun(1), running(1), ...steps(0, 5))
  recorder.see(state)
  await pass(FLUSH_MS)
  fails = true
  state = told(state, restored(state, 2))
  recorder.see(state)
  await pass(FLUSH_MS)
  fails = false
  state = told(state, stepEvent(1, 3))
  recorder.see(state)
  await pass(RETRY_MS)
  expect(await rowsOf(storage, 'run-1')).toEqual({ steps: upTo(3), samples: upTo(2) })
})

test('a run that continues in another page keeps its record, its beginning and what was kept', async () => {
  const storage = memoryStorage()
  const first = recorderOn(storage)
  first.recorder.see(told(begun(1), running(1), ...steps(0, 5)))
  await first.pass(FLUSH_MS)
  first.recorder.close()
  await first.settle()
  const stored = await storage.read('run-1')
  const read = readHeader(stored?.header)
  if (!stored || !read.ok) throw new Error('no record')
  expect(read.header).toMatchObject({ status: 'stopped', was_left: true })

  const { kept } = readRun(read.header, stored, 1).state
  const begunAgain: RunHeader[] = []
  const second = recorderOn(storage, {
    headerOf: () => read.header,
    onBegun: (header) => begunAgain.push(header),
  })
  second.clock.now = 50_000
  let state: LabState = { ...begun(4), record: 'run-1', kept }
  second.recorder.see(state)
  state = told(state, restored(state, 3), running(4), ...steps(4, 6, 4))
  second.recorder.see(state)
  await second.pass(FLUSH_MS)
  expect(await rowsOf(storage, 'run-1')).toEqual({ steps: upTo(6), samples: upTo(6) })
  const { headers } = await storage.list()
  expect(headers).toMatchObject([{ id: 'run-1', started_at: 1000, status: 'running', step: 6 }])
  expect(begunAgain).toHaveLength(1)
})

test('a run of its own has a record of its own that names its parent', async () => {
  const storage = memoryStorage()
  const { recorder, pass } = recorderOn(storage)
  let state = begun(1)
  const event = restored(state, 2)
  const parent = { record: 'older', step: 2 }
  state = told(state, { ...event, parent } as LabEvent, running(1), ...steps(3, 4))
  recorder.see(state)
  await pass(FLUSH_MS)
  const { headers } = await storage.list()
  expect(headers).toMatchObject([{ id: 'run-1', parent: 'older', parent_step: 2, was_left: false }])
  expect((await rowsOf(storage, 'run-1')).steps).toEqual(upTo(4))
})

test('only a page that is closed leaves a run; another run in its place does not', async () => {
  const storage = memoryStorage()
  const { recorder, settle } = recorderOn(storage)
  recorder.see(told(begun(1), running(1), ...steps(0, 1)))
  recorder.see(begun(2))
  await settle()
  const { headers } = await storage.list()
  expect(headers).toMatchObject([{ status: 'stopped', was_left: false }])
})
