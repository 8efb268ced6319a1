// A run that is paused, stepped, taken in turns, profiled and traced.
import { expect, test } from 'vitest'
import { PEAK, PROFILE, TRACE } from '../protocol/testing.ts'
import { fakeLab, start } from '../testing.ts'
import { tick } from './testing.ts'

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

test('a profiled step is alone on the GPU, and the run continues', async () => {
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
  // The stages of the step itself, timed by the profile; what was measured beside it is none.
  const own = events.slice(0, at).findLast(({ type }) => type === 'step')
  const metrics = own?.type === 'step' ? own.metrics : {}
  expect(metrics).toMatchObject({ 'timing_s/update_actor': 0.25 })
  expect(metrics).not.toHaveProperty('timing_s/observe_lens')
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
