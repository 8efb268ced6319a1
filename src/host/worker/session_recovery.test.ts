// A run that loses its GPU, or whose numbers break: where it goes back to, and when it waits for a
// person.
import { expect, test } from 'vitest'
import { NO_OBSERVATION } from '../protocol/observation.ts'
import { all, fakeLab, going, OFTEN, start } from '../testing.ts'
import { gpuError } from './testing.ts'

const lost = () => gpuError('lost', 'gone')

test('after a loss a run continues from its newest state, by itself, and ends as it would have', async () => {
  const { session, events, lose, steps, until, log, statuses } = fakeLab({ hangAt: 5 })
  session.handle(going)
  await until(() => steps().includes(4))
  lose(lost())
  await session.idle
  const [restored] = all(events, 'restored')
  expect(all(events, 'lost')).toMatchObject([{ step: restored.step, is_waiting: false }])
  expect(restored.step).toBeGreaterThan(0)
  expect(restored).toMatchObject({ why: 'lost', phase: restored.step > 3 ? 1 : 0 })
  expect([...restored.history.series.loss.steps]).toEqual(
    Array.from({ length: restored.step + 1 }, (_, i) => i),
  )
  const after = steps().slice(steps().lastIndexOf(restored.step + 1))
  expect(after).toEqual([1, 2, 3, 4, 5, 6].slice(restored.step))
  expect(log).toContain(`from ${restored.step}, 0 changes`)
  expect(statuses().at(-1)).toBe('finished')
  expect(log.filter((line) => /destroy|free/.test(line))).toEqual(['destroy', 'free'])
})

test('before it was kept, a run that is lost starts again, with what was done to it', async () => {
  const { session, events, lose, steps, until, statuses } = fakeLab({ hangAt: 2 })
  session.handle(start)
  await until(() => steps().includes(1))
  lose(lost())
  await session.idle
  expect(all(events, 'restored')).toMatchObject([{ step: 0, history: { series: {} } }])
  expect(steps()).toEqual([0, 1, 0, 1, 2, 3, 4, 5, 6])
  expect(statuses()).toEqual(['preparing', 'running', 'preparing', 'running', 'finished'])
})

test('a second loss waits for a person, and then continues carefully', async () => {
  const { session, events, lose, steps, until, statuses, log } = fakeLab({ hangAt: 4 })
  session.handle(going)
  await until(() => steps().includes(3))
  lose(lost())
  await until(() => all(events, 'restored').length === 1)
  lose(lost())
  await until(() => statuses().at(-1) === 'paused')
  expect(all(events, 'lost').map(({ is_waiting }) => is_waiting)).toEqual([false, true])
  const before = steps().length
  session.handle({ type: 'pause' })
  session.handle({ type: 'observe', request: NO_OBSERVATION })
  await until(() => true)
  expect(steps()).toHaveLength(before)
  session.handle({ type: 'resume' })
  await session.idle
  expect(statuses().at(-1)).toBe('finished')
  expect(log.at(-1)).toBe('free careful')
})

test('two losses far apart are two first losses', async () => {
  const { session, events, lose, steps, until, pass, statuses } = fakeLab({ hangAt: 4 })
  session.handle(going)
  await until(() => steps().includes(3))
  lose(lost())
  await until(() => all(events, 'restored').length === 1)
  pass(61_000)
  lose(lost())
  await session.idle
  expect(all(events, 'lost').map(({ is_waiting }) => is_waiting)).toEqual([false, false])
  expect(statuses().at(-1)).toBe('finished')
})

test('a GPU that stays away is waited for, some seconds and then until a person asks', async () => {
  const { session, events, lose, steps, until, statuses } = fakeLab({ hangAt: 4, closed: 5 })
  session.handle(going)
  await until(() => steps().includes(3))
  lose(lost())
  await until(() => statuses().at(-1) === 'paused')
  expect(all(events, 'lost')).toMatchObject([
    { is_waiting: false, is_blocked: false },
    { is_waiting: true, is_blocked: true, message: 'nothing here' },
  ])
  expect(all(events, 'failed')).toEqual([])
  session.handle({ type: 'resume' })
  await session.idle
  expect(statuses().at(-1)).toBe('finished')
})

test('a run that is lost in a pause stays paused', async () => {
  const { session, events, lose, until, statuses, steps } = fakeLab()
  session.handle({ ...going, paused: true })
  await until(() => statuses().at(-1) === 'paused')
  session.handle({ type: 'step' })
  await until(() => steps().includes(1) && statuses().at(-1) === 'paused')
  await until(() => all(events, 'checkpoint').length > 0)
  lose(lost())
  await until(() => all(events, 'restored').length === 1 && statuses().at(-1) === 'paused')
  expect(all(events, 'restored')).toMatchObject([{ step: 1 }])
  session.handle({ type: 'stop' })
  await session.idle
  expect(steps()).toEqual([0, 1])
})

test('three broken steps in a row: the run goes back to its last sound state and waits there', async () => {
  const { session, events, until, statuses, steps, log } = fakeLab({ broken: [3, 4, 5] })
  session.handle(going)
  await until(() => statuses().at(-1) === 'paused')
  const [guarded] = all(events, 'guarded')
  expect(guarded.broken.map(({ step }) => step)).toEqual([3, 4, 5])
  expect(guarded.step).toBeLessThan(3)
  expect(all(events, 'restored')).toMatchObject([{ why: 'guard', step: guarded.step }])
  expect(all(events, 'checkpoint').every(({ step }) => step < 3)).toBe(true)
  expect(all(events, 'failed')).toEqual([])
  const before = steps().length
  session.handle({ type: 'observe', request: NO_OBSERVATION })
  await until(() => true)
  expect(steps()).toHaveLength(before)
  // It is asked for another rate, and continues.
  session.handle({
    type: 'steer',
    action: { kind: 'set', path: 'actor.optim.lr', value: 1e-5 },
  })
  session.handle({ type: 'resume' })
  await until(() => all(events, 'guarded').length === 2)
  expect(log).toContain('steer set')
  expect(steps()[before]).toBe(guarded.step + 1)
  session.handle({ type: 'stop' })
  await session.idle
})

test('two broken steps and a sound one: the run continues, and is kept again', async () => {
  const { session, events, statuses } = fakeLab({ broken: [2, 3, 5] })
  session.handle(going)
  await session.idle
  expect(statuses().at(-1)).toBe('finished')
  expect(all(events, 'guarded')).toEqual([])
  const kept = all(events, 'checkpoint').map(({ step }) => step)
  expect(kept.filter((step) => [2, 3, 5].includes(step))).toEqual([])
  expect(kept.at(-1)).toBe(6)
})

test('a state that is not finite ends it at once, though every step looks well: the run goes back and waits', async () => {
  const { session, events, until, statuses } = fakeLab({ unsound: [4, 5, 6] })
  session.handle(going)
  await until(() => statuses().at(-1) === 'paused')
  const [guarded] = all(events, 'guarded')
  expect(guarded.step).toBeGreaterThan(0)
  expect(guarded.step).toBeLessThan(4)
  expect(guarded).toMatchObject({
    broken: [
      {
        // The first of them that was kept.
        step: expect.toSatisfy((step: number) => step >= 4),
        metrics: [],
        unsound: { model: 'actor', part: 'weights', parameter: 'model.embed_tokens.weight' },
      },
    ],
  })
  expect(all(events, 'restored')).toMatchObject([{ why: 'guard', step: guarded.step }])
  expect(all(events, 'checkpoint').every(({ step }) => step < 4)).toBe(true)
  session.handle({ type: 'stop' })
  await session.idle
})

test.each([{ unsound: [6] }, { unsound: [6], broken: [6] }])(
  'a last state that is not finite is no end: %o',
  async (circumstances) => {
    const { session, events, until, statuses, steps } = fakeLab(circumstances)
    session.handle({ ...going, checkpoints: { ...OFTEN, every_steps: 4 } })
    await until(() => statuses().at(-1) === 'paused')
    expect(statuses()).not.toContain('finished')
    expect(all(events, 'guarded')).toMatchObject([{ broken: [{ step: 6 }] }])
    expect(steps()).toContain(6)
    session.handle({ type: 'stop' })
    await session.idle
  },
)

test('a run whose last step was left out ends with the weights that it has, and keeps them', async () => {
  const { session, events, statuses } = fakeLab({ broken: [6] })
  session.handle(going)
  await session.idle
  expect(statuses().at(-1)).toBe('finished')
  expect(all(events, 'checkpoint').at(-1)?.step).toBe(6)
})
