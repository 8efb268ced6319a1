import { expect, test } from 'vitest'

import { PRESETS } from '../../document/presets/presets.ts'
import { type LabEvent, PROTOCOL_VERSION } from '../../host/protocol/protocol.ts'
import type { TokenTable } from '../../host/protocol/results.ts'
import { emptyRun, initialState, type LabState } from '../state/store.ts'
import { applyEvent } from './apply.ts'

const started = (): LabState => ({
  ...initialState(),
  ...emptyRun(),
  run: 1,
  status: 'preparing',
  runExperiment: PRESETS[0].experiment,
})
const step = (n: number, metrics: Record<string, number>, phase = 0): LabEvent => ({
  type: 'step',
  run: 1,
  step: n,
  phase,
  phase_step: n,
  metrics,
})
const after = (events: readonly (LabEvent | [LabEvent, number])[], from = started()): LabState =>
  events.reduce(
    (state, e) => (Array.isArray(e) ? applyEvent(state, e[0], e[1]) : applyEvent(state, e, 0)),
    from,
  )

test('metrics land in columns of their own, at the steps they came', () => {
  const state = after([
    step(0, { 'val-core/x/acc/mean@1': 0.25 }),
    step(1, { loss: 3 }),
    step(2, { loss: Number.NaN, 'val-core/x/acc/mean@1': 0.5 }),
  ])
  const loss = state.series.get('loss')
  const accuracy = state.series.get('val-core/x/acc/mean@1')
  expect([...(loss?.steps.subarray(0, loss.length) ?? [])]).toEqual([1, 2])
  expect(loss?.values[1]).toBeNaN()
  expect([...(accuracy?.steps.subarray(0, accuracy.length) ?? [])]).toEqual([0, 2])
  expect(state.step).toBe(2)
  expect(state.metrics['val-core/x/acc/mean@1']).toBe(0.5)
})

test('a stale run changes nothing', () => {
  const before = started()
  const events: LabEvent[] = [
    { ...step(9, { loss: 1 }), run: 0 } as LabEvent,
    { type: 'status', run: 0, status: 'finished' },
    { type: 'failed', run: 0, error: { name: 'E', code: 'internal', message: '' } },
  ]
  for (const event of events) expect(applyEvent(before, event, 0)).toBe(before)
})

test('opening, preparing, running and failing are told apart', () => {
  const adapter = {
    vendor: 'v',
    architecture: 'a',
    description: 'd',
    is_software: true,
    features: [],
    max_buffer_bytes: 1,
    max_binding_bytes: 1,
    has_subgroups: false,
    has_f16: false,
  }
  const opened = applyEvent(initialState(), { type: 'adapter', adapter }, 0)
  expect(opened).toMatchObject({ status: 'idle', adapter })
  // The adapter's name arriving late does not stop a run.
  expect(after([{ type: 'adapter', adapter }]).status).toBe('preparing')
  const preparing = after([{ type: 'progress', run: 1, message: 'Preparing the GPU' }])
  expect(preparing.message).toBe('Preparing the GPU')
  const running = after([{ type: 'status', run: 1, status: 'running' }], preparing)
  expect(running).toMatchObject({ status: 'running', message: '' })
  const error = { name: 'GpuError', code: 'no_adapter', message: 'none' } as const
  expect(applyEvent(initialState(), { type: 'failed', run: undefined, error }, 0)).toMatchObject({
    status: 'failed',
    error,
  })
})

test('an event of a kind that this page does not know changes nothing', () => {
  const state = initialState()
  expect(applyEvent(state, { type: 'from_tomorrow' } as never, 0)).toBe(state)
})

test('a worker of another version is refused', () => {
  const hello = (protocol: number) => after([{ type: 'hello', protocol }])
  expect(hello(PROTOCOL_VERSION).status).toBe('preparing')
  expect(hello(PROTOCOL_VERSION + 1)).toMatchObject({ status: 'failed', error: { code: 'worker' } })
})

test('speed and time left follow the arrival of steps, and a pause is no slow step', () => {
  const [warmStart, ...later] = PRESETS[0].experiment.phases
  const running = after([
    [step(1, {}), 1000],
    [step(2, {}), 1500],
    [step(3, {}), 2000],
  ])
  expect(running.timing.steps_per_second).toBe(2)
  expect(running.timing.tokens_per_second).toBeUndefined()
  // Nobody knows yet how long a step of reinforcement or a validation takes.
  expect(running.timing.left).toEqual({
    seconds: (warmStart.steps - 3) / 2,
    untimedSteps: later.reduce((sum, { steps }) => sum + steps, 0),
    isAbout: true,
  })
  const resumed = after(
    [
      { type: 'status', run: 1, status: 'paused' },
      { type: 'status', run: 1, status: 'running' },
      [step(4, {}), 100_000],
      [step(5, {}), 100_250],
    ],
    running,
  )
  expect(resumed.timing.steps_per_second).toBe(4)
})

test('steps that the page hears of at once took as long as their worker says', () => {
  const done = (n: number, at_ms: number): [LabEvent, number] => [
    { ...step(n, {}), at_ms } as LabEvent,
    // The page painted for three seconds.
    3000 + n / 10,
  ]
  const state = after([done(1, 100), done(2, 600), done(3, 1100), done(4, 1600)])
  expect(state.timing.steps_per_second).toBe(2)
  expect(state.gaps[0].map(({ ms }) => ms)).toEqual([500, 500, 500])
})

test('the speed is computed four times a second at most, and again where a phase begins', () => {
  const slow = after([
    [step(1, {}), 1000],
    [step(2, {}), 1500],
  ])
  const soon = after([[step(3, {}), 1510]], slow)
  expect(soon.timing).toBe(slow.timing)
  expect(after([[step(4, {}), 1750]], soon).timing.steps_per_second).toBe(4)
  expect(after([[step(4, {}, 1), 1520]], soon).timing).not.toBe(slow.timing)
})

test('response tokens per second come from the phase that samples them', () => {
  const { train_batch_size, n } = PRESETS[0].experiment.rollout
  const state = after([
    { type: 'phase', run: 1, step: 400, phase: 2, reason: 'steps' },
    [step(401, { 'response_length/mean': 3 }, 2), 0],
    [step(402, { 'response_length/mean': 3.5 }, 2), 1000],
  ])
  expect(state.timing.tokens_per_second).toBe(train_batch_size * n * 3.5)
})

test('phases are kept with their reason', () => {
  const state = after([
    { type: 'phase', run: 1, step: 0, phase: 0, reason: 'start' },
    step(1, {}),
    { type: 'phase', run: 1, step: 1, phase: 1, reason: 'next_phase' },
  ])
  expect(state.phase_switches).toEqual([
    { step: 0, phase: 0, reason: 'start' },
    { step: 1, phase: 1, reason: 'next_phase' },
  ])
  expect(state).toMatchObject({ phase: 1, phase_step: 0 })
})

test('only the samples of the last steps are kept', () => {
  const events = Array.from(
    { length: 20 },
    (_, i): LabEvent => ({ type: 'samples', run: 1, step: i, samples: [] }),
  )
  const { samples } = after(events)
  expect(samples.length).toBeLessThanOrEqual(8)
  expect(samples.at(-1)?.step).toBe(19)
})

test('the counts are the last step’s own, and the buffers made after the first step', () => {
  const memory = {
    weights: 4,
    gradients: 4,
    optimizer: 8,
    activations: 0,
    kv_cache: 0,
    batch: 0,
    scratch: 0,
    probes: 0,
  }
  const at = (dispatches: number, buffers: number): LabEvent => ({
    type: 'memory',
    run: 1,
    memory,
    counts: {
      buffers,
      bind_groups: 0,
      pipelines: 0,
      dispatches,
      submits: dispatches / 10,
      reads: 0,
      wgsl_bytes: 0,
      uploaded_bytes: 0,
      live_bytes: 0,
    },
  })
  const early = after([at(10, 40)])
  expect(early.memory).toEqual(memory)
  expect(early.counts).toBeUndefined()
  // Said while a phase is new, and shown from then on.
  const limited = step(2, { 'perf/longest_dispatch_ms': 61, 'perf/split_dispatches': 4 })
  const counted = step(3, { 'perf/dispatches': 800, 'perf/submits': 3 })
  const state = after([step(1, {}), at(100, 50), limited, counted, at(300, 51)], early)
  expect(state.counts).toEqual({
    dispatches_per_step: 800,
    submits_per_step: 3,
    longest_dispatch_ms: 61,
    split_dispatches: 4,
    buffers_since_warmup: 1,
  })
  // What a panel makes as it opens is not the steps' own.
  const opened = { ...at(300, 90), memory: { ...memory, probes: 8 } } as LabEvent
  expect(after([opened], state).counts?.buffers_since_warmup).toBe(0)
})

test('a profile is kept until the run is dropped; the wait for one ends with it or with the run', () => {
  const profile = {
    source: 'wall',
    resolutionNs: undefined,
    kernels: [],
    stages: [],
    dispatches: 3,
    time_ms: 1,
  } as const
  const waiting = { ...started(), isProfiling: true }
  const event: LabEvent = { type: 'profile', run: 1, step: 4, profile, peak: undefined }
  const state = after([event], waiting)
  expect([state.profile, state.isProfiling]).toEqual([{ step: 4, profile, peak: undefined }, false])
  expect(after([{ type: 'status', run: 1, status: 'running' }], waiting).isProfiling).toBe(true)
  expect(after([{ type: 'status', run: 1, status: 'finished' }], waiting).isProfiling).toBe(false)
  expect(applyEvent(waiting, { ...event, run: 7 }, 0)).toBe(waiting)
  expect({ ...state, ...emptyRun() }.profile).toBeUndefined()
})

test('a trace is kept until the run is dropped; the wait for one ends with it or with the run', () => {
  const table = { rows: 4, samples: [] } as unknown as TokenTable
  const waiting = { ...started(), isTracing: true }
  const event: LabEvent = { type: 'trace', run: 1, step: 4, table }
  const state = after([event], waiting)
  expect([state.trace, state.isTracing]).toEqual([{ step: 4, table }, false])
  expect(after([{ type: 'status', run: 1, status: 'paused' }], waiting).isTracing).toBe(true)
  expect(after([{ type: 'status', run: 1, status: 'finished' }], waiting).isTracing).toBe(false)
  expect(applyEvent(waiting, { ...event, run: 7 }, 0)).toBe(waiting)
  expect({ ...state, ...emptyRun() }).toMatchObject({ trace: undefined, isTracing: false })
})

test('a benchmark runs, then is done or failed; a dead worker ends it', () => {
  const running = after([{ type: 'benchmark_progress', message: 'Probing' }])
  expect(running.benchmark).toEqual({ status: 'running', message: 'Probing' })
  const error = { name: 'GpuError', code: 'lost', message: 'gone' } as const
  expect(after([{ type: 'benchmark_failed', error }], running).benchmark).toEqual({
    status: 'failed',
    error,
  })
  expect(after([{ type: 'failed', run: undefined, error }], running).benchmark.status).toBe('none')
})

test('what a person is asked and has said is kept by phase, as are the scored pairs', () => {
  const asked = (phase: number, given: number, verdicts: string): LabEvent => ({
    type: 'pairs',
    run: 1,
    phase,
    pairs: [{ id: given, prompt: '1+1=', response_a: '2', response_b: '3' }],
    pending: 5 - given,
    given,
    min_pairs: 4,
    verdicts,
  })
  const pair = { prompt: '1+1=', chosen: '2', rejected: '3', chosen_score: 1, rejected_score: 0 }
  const state = after([
    { type: 'status', run: 1, status: 'waiting' },
    asked(1, 0, ''),
    asked(1, 1, 'a'),
    asked(3, 2, 'bb'),
    { type: 'scored_pairs', run: 1, step: 7, pairs: [pair] },
  ])
  expect(state).toMatchObject({
    status: 'waiting',
    asked: { phase: 3, given: 2, pending: 3, pairs: [{ id: 2 }] },
    verdicts: { 1: 'a', 3: 'bb' },
    scored_pairs: { step: 7, pairs: [pair] },
  })
  expect(emptyRun()).toMatchObject({ asked: undefined, verdicts: {}, scored_pairs: undefined })
})

test('what a checkpoint that was written settles, and what it does not', () => {
  const problem = (code: 'unavailable' | 'full'): LabEvent => ({
    type: 'checkpoint_problem',
    run: 1,
    code,
    message: 'no',
  })
  const written: LabEvent = {
    type: 'checkpoint',
    run: 1,
    step: 2,
    bytes: 3,
    ms: 4,
    entries: [{ record: 'r', step: 2, bytes: 3, written_at: 0 }],
  }
  expect(after([problem('full'), written]).checkpoint_problem).toBeUndefined()
  // Written into memory, where it stays until the page is closed.
  expect(after([problem('unavailable'), written]).checkpoint_problem?.code).toBe('unavailable')
})
