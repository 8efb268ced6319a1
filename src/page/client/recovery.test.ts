// A worker that hangs or dies is replaced, and the run continues.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { PRESETS } from '../../document/presets/presets.ts'
import type { LabCommand, LabEvent } from '../../host/protocol/protocol.ts'
import { SILENT_MS } from '../connection/connection.ts'
import type { LabPage, LabPort } from '../connection/port.ts'
import { keepCheckpoint, readCheckpoint } from '../runs/checkpoints.ts'
import { labStore } from '../state/store.ts'
import { pause, train } from './controls.ts'
import { closeLab, openLab } from './lab.ts'
import { goOn } from './starting.ts'

type Listener = (event: { data?: LabEvent; message?: string }) => void

class FakePort {
  readonly commands: LabCommand[] = []
  readonly listeners: Record<string, Listener> = {}
  isTerminated = false
  postMessage(command: LabCommand) {
    this.commands.push(command)
  }
  terminate() {
    this.isTerminated = true
  }
  addEventListener(type: string, listener: Listener) {
    this.listeners[type] = listener
  }
  says(...events: LabEvent[]) {
    for (const data of events) this.listeners.message({ data })
  }
  get started() {
    return this.commands.findLast((command) => command.type === 'start')
  }
}

const ports: FakePort[] = []
const port = () => ports[ports.length - 1]

function openPage() {
  const page: LabPage = {
    address: 'https://understory.example/',
    query: '?p=two-skills-bupo',
    hash: '',
    replaceQuery: () => {},
    nextFrame: (flush) => flush(),
    recall: () => undefined,
    remember: () => {},
    now: () => Date.now(),
  }
  openLab(() => {
    ports.push(new FakePort())
    return port() as unknown as LabPort
  }, page)
}

const alive: LabEvent = { type: 'alive' }
const step = (run: number, n: number): LabEvent => ({
  type: 'step',
  run,
  step: n,
  phase: 0,
  phase_step: n,
  metrics: { loss: n },
})
const kept = (run: number, ...steps: number[]): LabEvent => ({
  type: 'checkpoint',
  run,
  step: steps[steps.length - 1],
  bytes: 1,
  ms: 1,
  entries: steps.map((n) => ({ record: 'r', step: n, bytes: 1, written_at: 0 })),
})

/** A run at step 5 whose checkpoints are given. */
function running(...checkpoints: number[]) {
  openPage()
  train()
  const { run } = labStore.getState()
  port().says(alive, { type: 'status', run, status: 'running' }, step(run, 4), step(run, 5))
  if (checkpoints.length > 0) port().says(kept(run, ...checkpoints))
  return labStore.getState()
}

beforeEach(() => {
  ports.length = 0
  vi.useFakeTimers()
})
afterEach(() => {
  closeLab()
  vi.useRealTimers()
})

test('a worker that says nothing for long is replaced, and the run continues from its newest checkpoint', () => {
  const { run, record } = running(2, 4)
  vi.advanceTimersByTime(SILENT_MS + 2000)
  expect(ports).toHaveLength(2)
  expect(ports[0].isTerminated).toBe(true)
  expect(port().started).toMatchObject({
    run,
    record,
    paused: false,
    from: { kind: 'resume', record, step: 4 },
  })
  expect(labStore.getState()).toMatchObject({
    status: 'preparing',
    record,
    error: undefined,
    loss: { what: 'worker', step: 4 },
  })
})

test('without a checkpoint it starts again, and nothing is left of the steps so far', () => {
  const { run } = running()
  vi.advanceTimersByTime(SILENT_MS + 2000)
  expect(port().started).toMatchObject({ run })
  expect(port().started).not.toHaveProperty('from.kind')
  expect(labStore.getState()).toMatchObject({ step: 0, loss: { what: 'worker', step: 0 } })
  expect(labStore.getState().series.size).toBe(0)
})

test('one that is heard of is not, nor one that hangs with no run, nor while the page sleeps', () => {
  running(4)
  for (let i = 0; i < 30; i++) {
    vi.advanceTimersByTime(2000)
    port().says(alive)
  }
  expect(ports).toHaveLength(1)
  // A laptop that was closed: its clock jumps, and no timer ran.
  vi.setSystemTime(Date.now() + 3_600_000)
  vi.advanceTimersByTime(4000)
  expect(ports).toHaveLength(1)
  port().says({ type: 'status', run: labStore.getState().run, status: 'finished' })
  vi.advanceTimersByTime(10 * SILENT_MS)
  expect(ports).toHaveLength(1)
})

test('a paused run is paused in the new worker too', () => {
  const { run } = running(4)
  port().says({ type: 'status', run, status: 'paused' })
  vi.advanceTimersByTime(SILENT_MS + 2000)
  expect(port().started).toMatchObject({ paused: true })
})

test('a run that was about to pause pauses in the new worker', () => {
  running(4)
  pause()
  vi.advanceTimersByTime(SILENT_MS + 2000)
  expect(port().started).toMatchObject({ paused: true })
})

test('a worker that crashes is replaced once; then it fails', () => {
  running(4)
  ports[0].listeners.error({ message: 'out of memory' })
  expect(ports).toHaveLength(2)
  port().says(alive)
  port().listeners.error({ message: 'out of memory' })
  expect(ports).toHaveLength(2)
  expect(labStore.getState()).toMatchObject({
    status: 'failed',
    error: { code: 'worker', message: 'out of memory' },
  })
})

test('continuing keeps the record of a run; a run that branches off gets a new one', () => {
  openPage()
  const [{ experiment, id: preset_id }] = PRESETS
  goOn({ kind: 'resume', record: 'abc', step: 3 }, { experiment, preset_id })
  expect(labStore.getState()).toMatchObject({ record: 'abc', status: 'preparing' })
  expect(port().started).toMatchObject({ record: 'abc', from: { step: 3 } })
  goOn({ kind: 'branch', record: 'abc', step: 3 }, { experiment, preset_id })
  expect(labStore.getState().record).toMatch(/^[0-9a-f]{24}$/)
})

test('a page that is hidden has a run kept, and asks for nothing without one', () => {
  openPage()
  keepCheckpoint()
  expect(port().commands.map(({ type }) => type)).toEqual(['open'])
  train()
  keepCheckpoint()
  expect(port().commands.at(-1)).toEqual({ type: 'checkpoint' })
})

test('a checkpoint is asked of the worker and handed over, or why not', async () => {
  openPage()
  const asked = readCheckpoint('abc')
  const other = readCheckpoint('xyz', 4)
  const { buffer } = Uint8Array.of(1, 2)
  port().says(
    { type: 'checkpoint_file_failed', record: 'xyz', message: 'gone' },
    { type: 'checkpoint_file', record: 'abc', step: 3, bytes: buffer },
  )
  expect(await asked).toMatchObject({ step: 3, bytes: buffer })
  await expect(other).rejects.toThrow('gone')
})
