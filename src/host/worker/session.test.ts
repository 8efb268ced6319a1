// A run from its first event to its last, and what a session answers beside a run.
import { expect, test } from 'vitest'
import { GENERATION, NUMBERS } from '../protocol/testing.ts'
import { fakeLab, start } from '../testing.ts'
import { labError } from './session.ts'
import { gpuError } from './testing.ts'

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
  const { session, events, log } = fakeLab({ failAt: 3 })
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
  for (const hangAt of [Number.NaN, 2]) {
    const { session, events, until, lose, statuses, steps, last } = fakeLab({ hangAt })
    session.handle({ ...start, paused: Number.isNaN(hangAt) })
    if (Number.isNaN(hangAt)) await until(() => statuses().at(-1) === 'paused')
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

test('a reward that there is not ends the run with its reason, and can be planned without harm', async () => {
  const { session, events } = fakeLab()
  const parts = [{ id: 'rhymes', weight: 1 }]
  const rewarded = { ...experiment, reward: { ...experiment.reward, parts } }
  session.handle({ type: 'plan', experiment: rewarded })
  session.handle({ ...start, experiment: rewarded })
  await session.idle
  expect(events.find(({ type }) => type === 'failed')).toMatchObject({
    error: { code: 'experiment', message: expect.stringMatching(/reward\.parts\.0\.id: expected/) },
  })
})
