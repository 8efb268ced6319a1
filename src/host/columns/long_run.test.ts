// 100,000 steps: what the page, the record and the worker keep of them stays within bounds.
import { expect, test } from 'vitest'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { readSeries } from '../../page/runs/record/read.ts'
import { MAX_PARTS } from '../../page/runs/recorder/recorded_run.ts'
import { FLUSH_STEPS } from '../../page/runs/recorder/recorder.ts'
import { begun, recorderOn, sampleOf, stepEvent, told } from '../../page/runs/testing.ts'
import type { LabState } from '../../page/state/store.ts'
import { memoryStorage, type RunStorage } from '../../record/run/storage.ts'
import { HistoryLog, historyUntil } from '../checkpoints/history.ts'
import { EVERYTHING, madeState } from '../checkpoints/testing.ts'
import type { Series } from './series.ts'
import { MAX_ROWS } from './thinning.ts'

const STEPS = 100_000
const SPIKE = 12_345
const metricsOf = (step: number): Record<string, number> => ({
  'actor/pg_loss': step === SPIKE ? 99 : Math.sin(step / 40),
  'critic/score/mean': Math.cos(step / 1000),
  ...(step % 10 === 0 && { 'val-core/x/acc/mean@1': step / STEPS }),
})
const METRICS = 3
/** All rows of all metrics, as numbers of 8 bytes. */
const MOST_BYTES = METRICS * MAX_ROWS * 16

const rowsOf = (series: ReadonlyMap<string, Series>) =>
  [...series].map(([metric, { steps, values, length, thinned }]) => ({
    metric,
    thinned,
    steps: [...steps.slice(0, length)],
    values: [...values.slice(0, length)],
  }))
const sizes = (series: ReadonlyMap<string, Series>) =>
  [...series.values()].map(({ length, steps, values }) => ({
    length,
    bytes: steps.byteLength + values.byteLength,
  }))

async function storedBytes(storage: RunStorage, id: string) {
  const stored = await storage.read(id)
  let bytes = 0
  for (const chunk of stored?.chunks ?? []) {
    const { columns } = chunk as { columns: Record<string, { steps: Float64Array }> }
    for (const { steps } of Object.values(columns)) bytes += 2 * steps.byteLength
  }
  return { bytes, parts: stored?.chunks.length ?? 0, stored }
}

function expectBounded(series: ReadonlyMap<string, Series>) {
  expect(series.size).toBe(METRICS)
  for (const { length, bytes } of sizes(series)) {
    expect(length).toBeLessThanOrEqual(MAX_ROWS)
    expect(bytes).toBeLessThanOrEqual(2 * 2 * 8 * MAX_ROWS)
  }
}

test('page and record of 100,000 steps stay within bounds and agree', async () => {
  const storage = memoryStorage()
  const page = recorderOn(storage)
  let state: LabState = { ...begun(1), status: 'running' }
  let most = { bytes: 0, parts: 0 }
  for (let step = 1; step <= STEPS; step++) {
    state = told(state, stepEvent(1, step, metricsOf(step)))
    if (step % 50 === 0)
      state = told(state, { type: 'samples', run: 1, step, samples: [sampleOf(step)] })
    page.recorder.see(state)
    if (step % FLUSH_STEPS === 1) await page.settle()
    if (step % 5000 === 0) {
      const { bytes, parts } = await storedBytes(storage, 'run-1')
      most = { bytes: Math.max(most.bytes, bytes), parts: Math.max(most.parts, parts) }
    }
  }
  await page.recorder.flush()
  await page.settle()
  expect(page.problems.filter(Boolean)).toEqual([])
  expectBounded(state.series)
  expect(state.arrivals.length).toBeLessThanOrEqual(64)
  expect(state.samples.length).toBeLessThanOrEqual(8)
  expect(state.kept.samples.bytes).toBeLessThanOrEqual(state.kept.samples.budget)
  expect(most.bytes).toBeLessThanOrEqual(MOST_BYTES)
  expect(most.parts).toBeLessThanOrEqual(MAX_PARTS)
  const { stored } = await storedBytes(storage, 'run-1')
  expect(rowsOf(readSeries(stored?.chunks ?? []))).toEqual(rowsOf(state.series))
  const loss = state.series.get('actor/pg_loss')
  expect(Math.max(...(loss?.values.subarray(0, loss.length) ?? []))).toBe(99)
  const header = stored?.header as { summaries: Record<string, { highest: number }> } | undefined
  // Each step is summarised before its row may go.
  expect(header?.summaries['actor/pg_loss']).toMatchObject({ count: STEPS, highest: 99 })
}, 120_000)

test('a run that is written often lies in few parts', async () => {
  const storage = memoryStorage()
  const page = recorderOn(storage)
  let state: LabState = { ...begun(1), status: 'running' }
  for (let step = 1; step <= 2 * MAX_PARTS; step++) {
    state = told(state, stepEvent(1, step, metricsOf(step)))
    page.recorder.see(state)
    await page.recorder.flush()
  }
  const { parts, stored } = await storedBytes(storage, 'run-1')
  expect(parts).toBeLessThanOrEqual(MAX_PARTS)
  expect(rowsOf(readSeries(stored?.chunks ?? []))).toEqual(rowsOf(state.series))
})

test('a rewriting that fails is made up for', async () => {
  const own = memoryStorage()
  let isFull = false
  const storage: RunStorage = {
    ...own,
    write: (write) => (isFull ? Promise.reject(new Error('full')) : own.write(write)),
  }
  const page = recorderOn(storage)
  let state: LabState = { ...begun(1), status: 'running' }
  for (let step = 1; step <= MAX_ROWS + 1000; step++) {
    isFull = step > MAX_ROWS - 100 && step < MAX_ROWS + 500
    state = told(state, stepEvent(1, step, metricsOf(step)))
    page.recorder.see(state)
    if (step % FLUSH_STEPS === 1) await page.settle()
    if (step === MAX_ROWS + 500) await page.pass(60_000)
  }
  await page.recorder.flush()
  expect(page.problems.some(Boolean)).toBe(true)
  const { stored } = await storedBytes(storage, 'run-1')
  expect(rowsOf(readSeries(stored?.chunks ?? []))).toEqual(rowsOf(state.series))
})

test('the history of a run that went on from any of its states is that of the whole run', () => {
  const at = [MAX_ROWS - 3, MAX_ROWS, MAX_ROWS + 2, 30_000, 60_001]
  const last = 70_000
  const add = (log: HistoryLog, step: number) =>
    log.add({ type: 'step', step, metrics: metricsOf(step) })
  const whole = new HistoryLog()
  const resumed: HistoryLog[] = []
  const trainer = madeState(EVERYTHING, 1, 0)
  const document = EVERYTHING as Experiment
  for (let step = 0; step <= last; step++) {
    add(whole, step)
    // The history is ahead of the state when that has been read back.
    const of = step - 2
    if (at.includes(of)) {
      const state = { trainer: { ...trainer, step: of }, experiment: document, document, done: 0 }
      const log = new HistoryLog(historyUntil(whole.history, state))
      for (let missed = of + 1; missed <= step; missed++) add(log, missed)
      resumed.push(log)
    } else for (const log of resumed) add(log, step)
    if (at.includes(of)) for (const log of resumed.slice(0, -1)) add(log, step)
  }
  expectBounded(whole.history.series)
  expect(resumed.length).toBe(at.length)
  for (const log of resumed)
    expect(rowsOf(log.history.series)).toEqual(rowsOf(whole.history.series))
}, 60_000)
