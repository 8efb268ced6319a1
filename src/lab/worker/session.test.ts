import { expect, test } from 'vitest'
import type { GpuError } from '../../kernels/device/errors.ts'
import { NO_OBSERVATION } from '../protocol/observation.ts'
import type { LabEvent } from '../protocol/protocol.ts'
import type { MatmulChoice } from '../protocol/results.ts'
import {
  ASKED,
  asking,
  FIRST,
  GENERATION,
  NUMBERS,
  PEAK,
  PROFILE,
  SECOND,
  TRACE,
} from '../protocol/testing.ts'
import { fakeLab, start } from '../testing.ts'
import { labError } from './session.ts'
import { gpuError, tick } from './testing.ts'

const { experiment } = start

test('a run goes from step 0 to its end, says when phases change and frees its memory', async () => {
  const { session, events, steps, statuses, log } = fakeLab()
  session.handle(start)
  await session.idle
  expect(steps()).toEqual([0, 1, 2, 3, 4, 5, 6])
  expect(statuses()).toEqual(['preparing', 'running', 'finished'])
  expect(events.filter(({ type }) => type === 'phase')).toEqual([
    { type: 'phase', run: 1, step: 0, phase: 0, reason: 'start' },
    { type: 'phase', run: 1, step: 3, phase: 1, reason: 'steps' },
  ])
  expect(log.at(-1)).toBe('free')
})

test('the next step is queued before the numbers of the last one are awaited', async () => {
  const { session, events, log, until } = fakeLab()
  session.handle(start)
  await until(() => events.some((e) => e.type === 'step' && e.step === 1))
  expect(log).toContain('queue 2')
  session.handle({ type: 'stop' })
  await session.idle
})

test('samples cross at most twice a second, and always at the end', async () => {
  const { session, events } = fakeLab()
  session.handle(start)
  await session.idle
  const at = events.flatMap((e) => (e.type === 'samples' ? [e.step] : []))
  // 100 ms a step: the first, one half a second later, and the last.
  expect(at).toEqual([0, 5, 6])
})

test('answers to held-out problems cross right after their step, every time', async () => {
  const { session, events } = fakeLab({ evaluated: [0, 1, 2] })
  session.handle(start)
  await session.idle
  const told = events.flatMap((event, i) => (event.type === 'generations' ? [[event, i]] : []))
  expect(told).toEqual(
    [0, 1, 2].map((step) => [
      { type: 'generations', run: 1, step, generations: [GENERATION] },
      events.findIndex((event) => event.type === 'step' && event.step === step) + 1,
    ]),
  )
})

test('a pause takes effect between steps, shows the last samples, and holds', async () => {
  const { session, steps, statuses, last, until } = fakeLab()
  session.handle(start)
  await until(() => steps().includes(2))
  session.handle({ type: 'pause' })
  await until(() => statuses().at(-1) === 'paused')
  const reached = steps().at(-1)
  expect(last('samples')).toMatchObject({ step: reached })
  for (let i = 0; i < 5; i++) await tick()
  expect(steps().at(-1)).toBe(reached)
  session.handle({ type: 'resume' })
  await session.idle
  expect(steps()).toEqual([0, 1, 2, 3, 4, 5, 6])
  expect(statuses()).toEqual(['preparing', 'running', 'paused', 'running', 'finished'])
})

test('one step is one training step, with step 0 before the first', async () => {
  const { session, steps, statuses, until } = fakeLab()
  session.handle({ ...start, paused: true })
  session.handle({ type: 'step' })
  await until(() => statuses().at(-1) === 'paused')
  expect(steps()).toEqual([0, 1])
  session.handle({ type: 'step' })
  await until(() => steps().length === 3)
  await until(() => statuses().at(-1) === 'paused')
  expect(steps()).toEqual([0, 1, 2])
  session.handle({ type: 'stop' })
  await session.idle
})

test('between turns a run neither steps nor is paused, until it is', async () => {
  const { session, steps, statuses, until } = fakeLab()
  session.handle({ ...start, paused: true })
  session.handle({ type: 'turn' })
  await until(() => steps().length === 2)
  for (let i = 0; i < 5; i++) await tick()
  expect(steps()).toEqual([0, 1])
  session.handle({ type: 'turn' })
  await until(() => steps().length === 3)
  for (let i = 0; i < 5; i++) await tick()
  expect(statuses()).toEqual(['preparing', 'running'])
  session.handle({ type: 'pause' })
  await until(() => statuses().at(-1) === 'paused')
  session.handle({ type: 'turn' })
  await until(() => steps().length === 4)
  session.handle({ type: 'resume' })
  await session.idle
  expect(steps()).toEqual([0, 1, 2, 3, 4, 5, 6])
  expect(statuses()).toEqual(['preparing', 'running', 'paused', 'running', 'finished'])
})

test('a run that starts paused prepares and does no step', async () => {
  const { session, steps, statuses, until, log } = fakeLab()
  session.handle({ ...start, paused: true })
  await until(() => statuses().at(-1) === 'paused')
  for (let i = 0; i < 5; i++) await tick()
  expect(steps()).toEqual([])
  session.handle({ type: 'stop' })
  await session.idle
  expect(log).toEqual(['create', 'free'])
})

test('a step is profiled in a pause, after it the run pauses again', async () => {
  const { session, steps, statuses, last, until, log } = fakeLab()
  session.handle({ ...start, paused: true })
  session.handle({ type: 'profile' })
  await until(() => statuses().at(-1) === 'paused')
  // Step 0 is no training step.
  expect(steps()).toEqual([0, 1])
  expect(last('profile')).toEqual({
    type: 'profile',
    run: 1,
    step: 1,
    profile: PROFILE,
    peak: PEAK,
  })
  session.handle({ type: 'profile' })
  await until(() => steps().length === 3)
  await until(() => statuses().at(-1) === 'paused')
  expect(last('profile')).toMatchObject({ step: 2 })
  // Besides, a run at rest is kept.
  expect(log.filter((line) => !line.startsWith('export'))).toEqual([
    'create',
    ...[0, 1, 2].flatMap((n) => ['profile', `queue ${n}`]),
  ])
  session.handle({ type: 'stop' })
  await session.idle
})

test('a trace is posted once, with the first step that has one, right behind its numbers', async () => {
  const { session, events, steps } = fakeLab()
  session.handle(start)
  session.handle({ type: 'trace' })
  await session.idle
  // Steps 1 to 3 are no reinforcement.
  expect(steps()).toEqual([0, 1, 2, 3, 4, 5, 6])
  const at = events.findIndex(({ type }) => type === 'trace')
  expect(events[at]).toEqual({ type: 'trace', run: 1, step: 4, table: TRACE })
  expect(events[at - 1]).toMatchObject({ type: 'step', step: 4 })
  expect(events.filter(({ type }) => type === 'trace')).toHaveLength(1)
})

test('asking for a trace in a pause takes no step', async () => {
  const { session, steps, statuses, until } = fakeLab()
  session.handle({ ...start, paused: true })
  await until(() => statuses().at(-1) === 'paused')
  session.handle({ type: 'trace' })
  for (let i = 0; i < 5; i++) await tick()
  expect(steps()).toEqual([])
  session.handle({ type: 'stop' })
  await session.idle
})

test('a profiled step is alone on the GPU, and the run goes on', async () => {
  const { session, events, steps, until, log } = fakeLab()
  session.handle(start)
  await until(() => steps().includes(2))
  session.handle({ type: 'profile' })
  await session.idle
  expect(steps()).toEqual([0, 1, 2, 3, 4, 5, 6])
  const at = events.findIndex(({ type }) => type === 'profile')
  const profiled = events[at]
  // Its own numbers came right before, and nothing of another step in between.
  expect(profiled.type === 'profile' && profiled.step).toBe(
    events
      .slice(0, at)
      .flatMap((e) => (e.type === 'step' ? [e.step] : []))
      .at(-1),
  )
  expect(log.filter((line) => line === 'profile')).toHaveLength(1)
})

test('a benchmark reports how far it is, then its numbers or why there are none', async () => {
  const { session, events } = fakeLab()
  session.handle({ type: 'benchmark' })
  await session.idle
  const progress = { type: 'benchmark_progress', message: 'Multiplying matrices' }
  expect(events).toEqual([progress, { type: 'benchmark', numbers: NUMBERS }])
  const failing = fakeLab({ benchmark_fails: true })
  failing.session.handle({ type: 'benchmark' })
  await failing.session.idle
  expect(failing.last('benchmark_failed')).toMatchObject({ error: { code: 'out_of_memory' } })
})

test('the next phase begins after the steps in flight, also from a pause', async () => {
  const { session, events, steps, statuses, until } = fakeLab()
  session.handle({ ...start, paused: true })
  session.handle({ type: 'step' })
  await until(() => statuses().at(-1) === 'paused')
  session.handle({ type: 'next_phase' })
  await tick()
  expect(statuses().at(-1)).toBe('paused')
  session.handle({ type: 'resume' })
  await session.idle
  expect(events.filter(({ type }) => type === 'phase').at(-1)).toEqual({
    type: 'phase',
    run: 1,
    step: 1,
    phase: 1,
    reason: 'next_phase',
  })
  expect(steps()).toEqual([0, 1, 2, 3, 4])
})

test('ending the last phase ends the run', async () => {
  const { session, events, statuses, until } = fakeLab()
  session.handle(start)
  await until(() => events.some((e) => e.type === 'step' && e.step === 4))
  session.handle({ type: 'next_phase' })
  await session.idle
  expect(statuses().at(-1)).toBe('finished')
})

test('a phase that asks waits for its verdicts, takes them in order and goes on', async () => {
  const { session, events, steps, statuses, last, until } = fakeLab({ asks: true })
  session.handle(start)
  await until(() => statuses().at(-1) === 'waiting')
  for (let i = 0; i < 5; i++) await tick()
  expect(steps()).toEqual([0, 1, 2, 3])
  // The page is told of the phase before its first step.
  expect(events.filter(({ type }) => type === 'phase').at(-1)).toEqual({
    type: 'phase',
    run: 1,
    step: 3,
    phase: 1,
    reason: 'steps',
  })
  const asked = { type: 'pairs', run: 1, phase: 1, min_pairs: 2 }
  const pairs = ASKED.slice(0, 4)
  expect(last('pairs')).toEqual({ ...asked, pairs, pending: 5, given: 0, verdicts: '' })
  session.handle({ type: 'verdict', id: 0, choice: 'a' })
  // A pair that is not the next in line: a key pressed twice.
  session.handle({ type: 'verdict', id: 0, choice: 'b' })
  expect(last('pairs')).toMatchObject({ pending: 4, given: 1, verdicts: 'a' })
  session.handle({ type: 'undo_verdict' })
  expect(last('pairs')).toMatchObject({ pending: 5, given: 0, verdicts: '' })
  session.handle({ type: 'verdict', id: 0, choice: 'skip' })
  session.handle({ type: 'verdict', id: 1, choice: 'b' })
  // Nothing has been taught yet: no way past.
  session.handle({ type: 'next_phase' })
  for (let i = 0; i < 5; i++) await tick()
  expect(statuses().at(-1)).toBe('waiting')
  expect(last('steered')).toMatchObject({ entry: { step: 3 }, refused: 'not taught' })
  // A run that waits can be steered all the same.
  session.handle({ type: 'steer', action: { kind: 'set', path: 'seed', value: 1 } })
  for (let i = 0; i < 5; i++) await tick()
  expect(last('steered')).not.toHaveProperty('refused')
  expect(statuses().filter((status) => status === 'waiting')).toHaveLength(1)
  session.handle({ type: 'verdict', id: 2, choice: 'a' })
  await until(() => steps().includes(5))
  session.handle({ type: 'verdict', id: 3, choice: 'b' })
  await session.idle
  expect(steps()).toEqual([0, 1, 2, 3, 4, 5, 6])
  expect(statuses().at(-1)).toBe('finished')
  // The step in flight takes no more verdicts: the last one came after step 2 or 3 of its phase.
  expect(last('pairs')).toMatchObject({ given: 3, verdicts: expect.stringMatching(/^sba[23]b$/) })
  expect(events.filter(({ type }) => type === 'phase')).toHaveLength(2)
})

test('verdicts that follow each other quickly are all kept, though nobody says anything more', async () => {
  const { session, statuses, log, until, made } = fakeLab({ asks: true })
  session.handle(start)
  await until(() => statuses().at(-1) === 'waiting')
  const kept = () => log.filter((line) => line === 'export 3').length
  await until(() => kept() === 1)
  session.handle({ type: 'verdict', id: 0, choice: 'a' })
  await until(() => kept() === 2)
  // As many verdicts as before, but another one.
  session.handle({ type: 'undo_verdict' })
  session.handle({ type: 'verdict', id: 0, choice: 'skip' })
  await until(() => kept() === 3)
  session.handle({ type: 'pause' })
  await until(() => statuses().at(-1) === 'paused')
  session.handle({ type: 'verdict', id: 1, choice: 'b' })
  await until(() => kept() === 4)
  for (let i = 0; i < 20; i++) await tick()
  expect([kept(), made.length]).toEqual([4, 4])
  session.handle({ type: 'stop' })
  await session.idle
})

test('a run that waits can be paused, stopped and profiled', async () => {
  const lab = () => fakeLab({ asks: true })
  const { session, statuses, last, until } = lab()
  session.handle(start)
  await until(() => statuses().at(-1) === 'waiting')
  session.handle({ type: 'pause' })
  await until(() => statuses().at(-1) === 'paused')
  session.handle({ type: 'verdict', id: 0, choice: 'a' })
  for (let i = 0; i < 5; i++) await tick()
  expect(statuses().at(-1)).toBe('paused')
  session.handle({ type: 'resume' })
  await until(() => statuses().at(-1) === 'waiting')
  session.handle({ type: 'profile' })
  for (let i = 0; i < 5; i++) await tick()
  expect(last('profile')).toBeUndefined()
  session.handle({ type: 'verdict', id: 1, choice: 'a' })
  await until(() => last('profile') !== undefined)
  expect(last('profile')).toMatchObject({ step: 4 })
  await session.idle

  // In a pause too: the step to be measured waits for its verdicts.
  const measured = lab()
  measured.session.handle({ ...start, paused: true })
  for (let n = 0; n < 3; n++) {
    await measured.until(() => measured.statuses().at(-1) === 'paused')
    measured.session.handle({ type: 'step' })
    await measured.until(() => measured.steps().at(-1) === n + 1)
  }
  await measured.until(() => measured.statuses().at(-1) === 'paused')
  measured.session.handle({ type: 'profile' })
  await measured.until(() => measured.statuses().at(-1) === 'waiting')
  measured.session.handle({ type: 'stop' })
  await measured.session.idle

  const stopped = lab()
  stopped.session.handle(start)
  await stopped.until(() => stopped.statuses().at(-1) === 'waiting')
  stopped.session.handle({ type: 'stop' })
  await stopped.session.idle
  expect(stopped.log.at(-1)).toBe('free')
})

test('a new run waits until the old one is freed, and the old one says no more', async () => {
  const { session, events, log, until } = fakeLab()
  session.handle(start)
  await until(() => events.some((e) => e.type === 'step' && e.step === 1))
  session.handle({ ...start, run: 2 })
  const before = events.length
  await session.idle
  expect(log.filter((line) => /create|free/.test(line))).toEqual([
    'create',
    'free',
    'create',
    'free',
  ])
  const later = events.slice(before)
  expect(later.every((e) => 'run' in e && e.run === 2)).toBe(true)
  expect(later.some((e) => e.type === 'step' && e.step === 6)).toBe(true)
})

test('an error ends the run once, keeps its code and frees the memory', async () => {
  const { session, events, log } = fakeLab({ fail_at: 3 })
  session.handle(start)
  await session.idle
  expect(events.filter(({ type }) => type === 'failed')).toEqual([
    {
      type: 'failed',
      run: 1,
      error: { name: 'GpuError', code: 'out_of_memory', message: 'no room' },
    },
  ])
  expect(log.at(-1)).toBe('destroy')
})

test('a lost device is opened again, in a pause and in a step that never ends', async () => {
  for (const hang_at of [Number.NaN, 2]) {
    const { session, events, until, lose, statuses, steps, last } = fakeLab({ hang_at })
    session.handle({ ...start, paused: Number.isNaN(hang_at) })
    if (Number.isNaN(hang_at)) await until(() => statuses().at(-1) === 'paused')
    else await until(() => steps().includes(1))
    lose(gpuError('lost', 'gone'))
    await until(() => last('restored') !== undefined)
    expect(last('lost')).toMatchObject({ run: 1, step: 0, message: 'gone', is_waiting: false })
    // The lab is not stuck: the next run gets as far as its first step.
    session.handle({ ...start, run: 2 })
    await until(() => events.some((e) => e.type === 'step' && e.run === 2))
    session.handle({ type: 'stop' })
    expect(last('failed')).toBeUndefined()
  }
})

test('a first run measures, says so, and the same run then gets the same kernels without measuring', async () => {
  const lab = { is_software: false, tune: async () => ({ [FIRST]: 'fast' }) }
  const { session, events, log, last } = fakeLab(lab)
  session.handle(start)
  await session.idle
  // The class that was left open is settled as the default.
  const matmul = { [FIRST]: 'fast', [SECOND]: 'plain' }
  expect(log[0]).toBe('tune without {}')
  expect(log[1]).toBe(`create ${JSON.stringify(matmul)}`)
  expect(events).toContainEqual({
    type: 'progress',
    run: 1,
    message: 'Measuring matrix products',
  })
  const said = last('kernels')
  expect(said).toMatchObject({ run: 1, matmul, kernels: `${FIRST}:fast` })
  const again = fakeLab({ ...lab, tune: async () => ({ [FIRST]: 'plain', [SECOND]: 'fast' }) })
  again.session.handle({
    ...start,
    kernel_cache: said?.type === 'kernels' ? said.cache : undefined,
  })
  await again.session.idle
  expect(again.log[0]).toBe(`create ${JSON.stringify(matmul)}`)
  expect(again.last('kernels')).toEqual(said)
})

test('a software adapter keeps the default kernels, whatever is remembered', async () => {
  const { session, log, last } = fakeLab()
  const matmul = { 'v/a/': { [FIRST]: 'fast' } }
  session.handle({ ...start, kernel_cache: JSON.stringify({ version: 'v1', matmul }) })
  await session.idle
  expect(log[0]).toBe('create')
  expect(last('kernels')).toBeUndefined()
})

test('pinned kernels are used without measuring, on any adapter and whatever is remembered', async () => {
  for (const is_software of [false, true]) {
    const { session, log, last } = fakeLab({ is_software })
    const remembered = { 'v/a/': { [FIRST]: 'fast', [SECOND]: 'fast' } }
    const kernel_cache = JSON.stringify({ version: 'v1', matmul: remembered })
    const pin = (kernels: string) => ({
      ...start,
      kernel_cache,
      experiment: { ...experiment, kernels },
    })
    session.handle(pin(`${FIRST}:vector_4x4`))
    await session.idle
    const matmul = { [FIRST]: 'vector_4x4' }
    expect(log[0]).toBe(`create ${JSON.stringify(matmul)}`)
    // Nothing to remember: the next run without a pin gets what it would have had.
    expect(last('kernels')).toEqual({
      type: 'kernels',
      run: 1,
      matmul,
      kernels: `${FIRST}:vector_4x4`,
    })
    const plain = fakeLab({ is_software })
    plain.session.handle(pin('default'))
    await plain.session.idle
    expect(plain.log[0]).toBe('create')
    expect(plain.last('kernels')).toBeUndefined()
  }
})

test('a pinned kernel that the device cannot run ends the run before it begins, with the field and the way out', async () => {
  const { session, log, last } = fakeLab()
  session.handle({ ...start, experiment: { ...experiment, kernels: '*:subgroups_16x16' } })
  await session.idle
  const message = expect.stringMatching(
    /^kernels: \*:subgroups_16x16 needs subgroups.*Empty the field/,
  )
  expect(last('failed')).toMatchObject({ run: 1, error: { code: 'experiment', message } })
  expect(log).toEqual(['destroy'])
})

test('a run that is stopped while it measures goes no further and is freed', async () => {
  let finish: (choice: MatmulChoice) => void = () => {}
  const tune = () => new Promise<MatmulChoice>((resolve) => (finish = resolve))
  const { session, log, last, until } = fakeLab({ is_software: false, tune })
  session.handle(start)
  await until(() => log.length > 0)
  session.handle({ type: 'stop' })
  finish({ [FIRST]: 'fast' })
  await session.idle
  expect(log).toEqual(['tune without {}', 'free'])
  expect(last('kernels')).toBeUndefined()
})

test('what cannot be measured runs on the default kernels; a lost device does not', async () => {
  const broken = (code: GpuError['code']) =>
    fakeLab({
      is_software: false,
      tune: async () => {
        throw gpuError(code, 'no')
      },
    })
  const invalid = broken('validation')
  invalid.session.handle(start)
  await invalid.session.idle
  expect(invalid.last('kernels')).toMatchObject({
    matmul: { [FIRST]: 'plain', [SECOND]: 'plain' },
    kernels: 'default',
  })
  expect(invalid.statuses().at(-1)).toBe('finished')
  const lost = broken('lost')
  lost.session.handle(start)
  await lost.until(() => lost.statuses().at(-1) === 'paused')
  expect(lost.last('lost')).toMatchObject({ is_waiting: true })
  expect(lost.log).toEqual(['tune without {}', 'destroy', 'tune without {}', 'destroy'])
})

test('an experiment is checked again before anything is allocated', async () => {
  const { session, last, log } = fakeLab()
  session.handle({ ...start, experiment: { ...experiment, seed: -1 } })
  await session.idle
  expect(last('failed')).toMatchObject({
    error: { code: 'experiment', message: expect.stringMatching(/^seed: expected/) },
  })
  expect(log).toEqual([])
})

test('no adapter is an answer, not a crash', async () => {
  const { session, events } = fakeLab()
  session.handle({ type: 'open' })
  await session.idle
  expect(events).toEqual([
    {
      type: 'failed',
      run: undefined,
      error: { name: 'GpuError', code: 'no_adapter', message: 'nothing here' },
    },
  ])
})

test('commands without a run do nothing', async () => {
  const { session, events } = fakeLab()
  for (const type of ['pause', 'resume', 'step', 'profile', 'trace', 'next_phase', 'stop'] as const)
    session.handle({ type })
  await session.idle
  expect(events).toEqual([])
})

test('an error of our own is internal, whatever is thrown', () => {
  expect(labError(new TypeError('x'))).toEqual({
    name: 'TypeError',
    code: 'internal',
    message: 'x',
  })
  expect(labError('text')).toEqual({ name: 'Error', code: 'internal', message: 'text' })
})

/** Step and groups of every observation, in order, each with the type of the event before it. */
const observed = (events: readonly LabEvent[]) =>
  events.flatMap((e, i) =>
    e.type === 'observed'
      ? [[e.step, Object.keys(e.observation.cost_ms).join(), events[i - 1].type]]
      : [],
  )

test('every so many steps show what panels want, right after the step, and the last state always', async () => {
  const { session, events } = fakeLab()
  const observe = asking(['flow'], { every: 4 })
  session.handle({ type: 'start', run: 1, record: 'r1', experiment, paused: false, observe })
  await session.idle
  expect(observed(events).map(([step, , before]) => [step, before])).toEqual([
    [0, 'step'],
    [4, 'step'],
    [6, 'step'],
  ])
})

test('nobody asks, and nothing is told or observed', async () => {
  const { session, events, log } = fakeLab()
  session.handle({
    type: 'start',
    run: 1,
    record: 'r1',
    experiment,
    paused: false,
    observe: NO_OBSERVATION,
  })
  await session.idle
  expect(observed(events)).toEqual([])
  expect(log.filter((line) => line.startsWith('observe'))).toEqual([])
})

test('in a pause a panel that opens sees the present step at once, and one that closes costs nothing', async () => {
  const { session, events, statuses, until, log } = fakeLab()
  session.handle({ type: 'start', run: 1, record: 'r1', experiment, paused: true })
  session.handle({ type: 'step' })
  await until(() => statuses().at(-1) === 'paused' && log.includes('queue 1'))
  const groups = () => observed(events).map(([step, of]) => [step, of])
  session.handle({ type: 'observe', request: asking(['flow']) })
  await until(() => groups().length === 1)
  session.handle({ type: 'observe', request: asking(['flow', 'similarity']) })
  await until(() => groups().length === 2)
  session.handle({ type: 'observe', request: asking(['similarity']) })
  await until(() => log.at(-1) === 'observe similarity')
  session.handle({ type: 'observe', request: asking(['similarity'], { layer: 1 }) })
  await until(() => groups().length === 3)
  expect(groups()).toEqual([
    [1, 'flow'],
    [1, 'flow,similarity'],
    // What was seen before stays.
    [1, 'flow,similarity'],
  ])
  session.handle({ type: 'observe', request: NO_OBSERVATION })
  session.handle({ type: 'step' })
  await until(() => log.includes('queue 2'))
  session.handle({ type: 'stop' })
  await session.idle
  expect(groups()).toHaveLength(3)
})

test('a request that comes while a step is in flight does not count as what that step showed', async () => {
  const { session, events, until, log } = fakeLab()
  const observe = asking(['flow'])
  session.handle({ type: 'start', run: 1, record: 'r1', experiment, paused: false, observe })
  await until(() => log.includes('queue 1'))
  session.handle({ type: 'pause' })
  session.handle({ type: 'observe', request: asking(['flow', 'entropy']) })
  await until(() => observed(events).some(([, of]) => of === 'flow,entropy'))
  const both = observed(events).filter(([, of]) => of === 'flow,entropy')
  const alone = observed(events).filter(([step, of]) => of === 'flow' && step === both[0][0])
  expect([alone.length, both.length]).toEqual([1, 1])
  session.handle({ type: 'stop' })
  await session.idle
})

test('a run that waits for verdicts shows what a panel asks for', async () => {
  const { session, events, statuses, until } = fakeLab({ asks: true })
  session.handle({ type: 'start', run: 1, record: 'r1', experiment, paused: false })
  await until(() => statuses().at(-1) === 'waiting')
  session.handle({ type: 'observe', request: asking(['flow']) })
  await until(() => observed(events).length === 1)
  expect(observed(events).map(([step]) => step)).toEqual([3])
  expect(statuses().at(-1)).toBe('waiting')
  session.handle({ type: 'stop' })
  await session.idle
})
