import { expect, test } from 'vitest'
import { Series } from '../../host/columns/series.ts'
import type { LabEvent } from '../../host/protocol/protocol.ts'
import { begun, sampleOf, stepEvent, told } from '../runs/testing.ts'
import type { LabState } from '../state/store.ts'

const column = (...values: number[]) => ({
  steps: Float64Array.from(values, (_, i) => i),
  values: Float64Array.from(values),
})

const REWARD = 'critic/score/mean'

const restored = (state: LabState, step: number, rest: object = {}): LabEvent => ({
  type: 'restored',
  run: state.run,
  why: 'lost',
  step,
  phase: 0,
  phase_step: step,
  experiment: state.experiment,
  document: state.experiment,
  history: {
    series: { [REWARD]: column(...Array.from({ length: step + 1 }, (_, i) => i / 10)) },
    phase_switches: [{ step: 0, phase: 0, reason: 'start' }],
    steered: [],
    verdicts: {},
  },
  kernels: '',
  ...rest,
})

const memory = (run: number, buffers: number): LabEvent => ({
  type: 'memory',
  run,
  memory: {
    weights: 1,
    gradients: 0,
    optimizer: 0,
    activations: 0,
    kv_cache: 0,
    batch: 0,
    scratch: 0,
    probes: 0,
  },
  counts: {
    buffers,
    bind_groups: 0,
    pipelines: 0,
    dispatches: 0,
    submits: 0,
    reads: 0,
    wgsl_bytes: 0,
    uploaded_bytes: 0,
    live_bytes: 0,
  },
})

const five = () => {
  const samples = (step: number): LabEvent => ({
    type: 'samples',
    run: 1,
    step,
    samples: [sampleOf(step)],
  })
  return told(
    begun(1),
    { type: 'status', run: 1, status: 'running' },
    { type: 'phase', run: 1, step: 0, phase: 0, reason: 'start' },
    ...[0, 1, 2, 3, 4, 5].flatMap((step) => [stepEvent(1, step), samples(step)]),
  )
}

test('a run that went back knows nothing of later steps, and grows from there', () => {
  const before = five()
  const series = before.series.get(REWARD)
  const state = told(before, restored(before, 2))
  expect(state).toMatchObject({ step: 2, phase_step: 2, metrics: { [REWARD]: 0.2 } })
  expect(state.samples.map(({ step }) => step)).toEqual([0, 1, 2])
  expect(state.kept.samples.items.map(({ step }) => step)).toEqual([0, 1, 2])
  const after = told(state, stepEvent(1, 3))
  const column = after.series.get(REWARD)
  expect([...(column?.steps.slice(0, column.length) ?? [])]).toEqual([0, 1, 2, 3])
  // Charts tell columns apart by their object.
  expect(column).not.toBe(series)
})

test('a run that another visit began shows the last samples of its record', () => {
  const { kept } = five()
  const state = told({ ...begun(1), kept }, restored(begun(1), 3))
  expect(state.samples).toEqual([{ step: 3, samples: [sampleOf(3)] }])
})

test('settings that follow the run follow it back; others stay', () => {
  const before = five()
  const other = { ...before.experiment, seed: 99 }
  const ofState = restored(before, 2, { experiment: other, document: other })
  expect(told(before, ofState).experiment).toBe(other)
  const edited = { ...before, experiment: { ...before.experiment, seed: 5 } }
  const state = told(edited, ofState)
  expect(state.experiment.seed).toBe(5)
  expect(state).toMatchObject({ runExperiment: other, runDocument: other })
})

test('a run of its own knows its parent, and what differs is kept for the page', () => {
  const before = begun(1)
  const parent = { record: 'x', step: 2 }
  const state = told(before, restored(before, 2, { why: 'branch', parent, differs: 'the adapter' }))
  expect(state.parent).toEqual(parent)
  expect(state.restored).toEqual({ why: 'branch', step: 2, differs: 'the adapter' })
})

test('the page waits after a loss until the run continues', () => {
  const lost = { step: 2, message: 'gone', is_waiting: true, is_blocked: true }
  const before = told(five(), { type: 'lost', run: 1, ...lost })
  expect(before.loss).toEqual({ what: 'gpu', ...lost })
  const after = told(before, restored(before, 2))
  expect(after.loss).toMatchObject({ is_waiting: false, is_blocked: false })
})

test('the first checkpoint’s buffer is no leak; one that comes later is', () => {
  const kept = (step: number): LabEvent => ({
    type: 'checkpoint',
    run: 1,
    step,
    bytes: 1,
    entries: [{ record: 'run-1', step, bytes: 1, written_at: 0 }],
    ms: 1,
  })
  const since = (state: LabState) => state.counts?.buffers_since_warmup
  let state = told(five(), memory(1, 100), memory(1, 101))
  expect(since(state)).toBe(1)
  state = told(state, kept(4), memory(1, 101))
  expect(since(state)).toBe(0)
  state = told(state, kept(5), memory(1, 102))
  expect(since(state)).toBe(1)
})

test('a checkpoint that is kept ends what had been in the way of it, but not what lasts', () => {
  const problem = (code: 'full' | 'unavailable'): LabEvent => ({
    type: 'checkpoint_problem',
    run: 1,
    code,
    message: 'm',
  })
  const kept: LabEvent = { type: 'checkpoint', run: 1, step: 1, bytes: 1, entries: [], ms: 1 }
  expect(told(five(), problem('full'), kept).checkpoint_problem).toBeUndefined()
  expect(told(five(), problem('unavailable'), kept).checkpoint_problem?.code).toBe('unavailable')
})

test('columns that are there already have room for more', () => {
  for (const length of [0, 1, 255, 256, 1000]) {
    const values = Float64Array.from({ length }, (_, i) => i)
    const series = Series.of(values, values)
    series.push(length, Number.NaN)
    expect(series.length).toBe(length + 1)
    expect([...series.steps.slice(0, length)]).toEqual([...values])
    expect(series.values[length]).toBeNaN()
  }
})
