// Phases that are ended by hand, and phases that wait for verdicts.
import { expect, test } from 'vitest'
import { ASKED } from '../protocol/testing.ts'
import { fakeLab, start } from '../testing.ts'
import { tick } from './testing.ts'

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

test('a phase that asks waits for its verdicts, takes them in order and continues', async () => {
  const { session, events, steps, statuses, last, until } = fakeLab({ asks: true })
  session.handle(start)
  await until(() => statuses().at(-1) === 'waiting')
  for (let i = 0; i < 5; i++) await tick()
  expect(steps()).toEqual([0, 1, 2, 3])
  // The page hears of the phase before its first step.
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
