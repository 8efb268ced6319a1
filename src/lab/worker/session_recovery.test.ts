import { expect, test } from 'vitest'
import { NO_OBSERVATION } from '../protocol/observation.ts'
import type { LabEvent } from '../protocol/protocol.ts'
import { fakeLab, start } from '../testing.ts'
import { gpuError } from './testing.ts'

/** Kept after every step, whatever the clock says. */
const OFTEN = { every_steps: 1, every_ms: 0, budget_bytes: 1e9 }
const going = { ...start, checkpoints: OFTEN }
const lost = () => gpuError('lost', 'gone')

type Of<T extends LabEvent['type']> = Extract<LabEvent, { type: T }>
const all = <T extends LabEvent['type']>(events: readonly LabEvent[], type: T) =>
  events.filter((event): event is Of<T> => event.type === type)

test('a run is kept while it goes on, and its end at last', async () => {
  const { session, events, files, made } = fakeLab()
  session.handle(going)
  await session.idle
  const kept = all(events, 'checkpoint')
  expect(kept.at(-1)).toMatchObject({ run: 1, step: 6 })
  expect(kept.map(({ step }) => step)).toEqual([...kept.map(({ step }) => step)].sort())
  expect((await files.list('r1')).at(-1)?.step).toBe(6)
  const { history, record, made_on } = made[made.length - 1]
  expect(record).toBe('r1')
  expect(made_on).toEqual({ understory: '1', adapter: 'fake', kernels: '' })
  expect([...(history.series.get('loss')?.values.slice(0, 7) ?? [])]).toEqual([
    10, 9, 8, 7, 6, 5, 4,
  ])
})

test('the history of a checkpoint ends with its step', async () => {
  const { session, made } = fakeLab()
  session.handle(going)
  await session.idle
  for (const { run, history } of made) {
    const loss = history.series.get('loss')
    expect(loss?.steps[loss.length - 1]).toBe(run.trainer.step)
    expect(history.phase_switches).toHaveLength(run.trainer.phase + 1)
  }
})

test('after a loss a run goes on from its newest state, by itself, and ends as it would have', async () => {
  const { session, events, lose, steps, until, log, statuses } = fakeLab({ hang_at: 5 })
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

test('before it was kept, a run that is lost begins anew, with what was done to it', async () => {
  const { session, events, lose, steps, until, statuses } = fakeLab({ hang_at: 2 })
  session.handle(start)
  await until(() => steps().includes(1))
  lose(lost())
  await session.idle
  expect(all(events, 'restored')).toMatchObject([{ step: 0, history: { series: {} } }])
  expect(steps()).toEqual([0, 1, 0, 1, 2, 3, 4, 5, 6])
  expect(statuses()).toEqual(['preparing', 'running', 'preparing', 'running', 'finished'])
})

test('a second loss waits for a person, and then goes on carefully', async () => {
  const { session, events, lose, steps, until, statuses, log } = fakeLab({ hang_at: 4 })
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
  const { session, events, lose, steps, until, pass, statuses } = fakeLab({ hang_at: 4 })
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
  const { session, events, lose, steps, until, statuses } = fakeLab({ hang_at: 4, closed: 5 })
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

test('a kept run goes on in another session, from the newest sound checkpoint', async () => {
  const { session, events, steps, statuses, files, made } = fakeLab()
  session.handle(going)
  await session.idle
  const kept = await files.list('r1')
  await files.write('r1', 4, Uint8Array.of(made.length + 9))
  events.length = 0
  session.handle({ ...going, run: 2, from: { kind: 'resume', record: 'r1', step: 4 } })
  await session.idle
  expect(all(events, 'checkpoint_problem')).toMatchObject([
    { code: 'corrupt', message: expect.stringContaining('step 4') },
  ])
  const [restored] = all(events, 'restored')
  const sound = kept.map(({ step }) => step).filter((step) => step < 4)
  expect(restored).toMatchObject({ run: 2, why: 'resume', step: sound.at(-1) })
  expect(restored.differs).toBeUndefined()
  expect(steps().at(-1)).toBe(6)
  expect(statuses().at(-1)).toBe('finished')
})

test('a run of its own is kept under its own record at once, with its parent', async () => {
  const { session, events, files, made } = fakeLab()
  session.handle(going)
  await session.idle
  events.length = 0
  const from = { kind: 'branch', record: 'r1', step: 3 } as const
  session.handle({ ...start, run: 2, record: 'r2', from, paused: true })
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setTimeout(resolve))
  const [restored] = all(events, 'restored')
  expect(restored).toMatchObject({ why: 'branch', parent: { record: 'r1', step: restored.step } })
  expect(await files.list('r2')).toMatchObject([{ step: restored.step }])
  expect(made.at(-1)).toMatchObject({ record: 'r2', parent: { record: 'r1' } })
  session.handle({ type: 'stop' })
})

test('a checkpoint from elsewhere is gone on from, and what differs is said', async () => {
  const { session, events, made } = fakeLab()
  session.handle(going)
  await session.idle
  const { made_on } = made[2]
  made[2] = { ...made[2], made_on: { ...made_on, adapter: 'another', understory: '0' } }
  const from = { kind: 'file', name: 'x.safetensors', bytes: Uint8Array.of(2).buffer } as const
  session.handle({ ...going, run: 2, record: 'r2', from })
  await session.idle
  expect(all(events, 'restored').at(-1)?.differs).toMatch(/“another” and the version was 0/)
})

test('without a sound checkpoint the run fails with what to do', async () => {
  const { session, last } = fakeLab()
  session.handle({ ...going, from: { kind: 'resume', record: 'r1', step: 4 } })
  await session.idle
  expect(last('failed')).toMatchObject({
    error: { code: 'checkpoint', message: expect.stringContaining('Train begins it anew') },
  })
})

test('full storage is said once, and the run goes on; its newest state can be had as a file', async () => {
  const { session, events, files, statuses } = fakeLab()
  files.write = async () => {
    throw new DOMException('no room', 'QuotaExceededError')
  }
  session.handle(going)
  await session.idle
  expect(all(events, 'checkpoint_problem')).toMatchObject([{ code: 'full' }])
  expect(statuses().at(-1)).toBe('finished')
  session.handle({ type: 'read_checkpoint', record: 'r1' })
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setTimeout(resolve))
  expect(all(events, 'checkpoint_file')).toMatchObject([{ record: 'r1', step: 6 }])
  session.handle({ type: 'read_checkpoint', record: 'nobody' })
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setTimeout(resolve))
  expect(all(events, 'checkpoint_file_failed')).toHaveLength(1)
})

test('a checkpoint that is not there after it was written is not announced as kept', async () => {
  const { session, events, files, statuses } = fakeLab()
  // A folder of cleared site data takes what is written and shows nothing.
  files.list = async () => []
  session.handle(start)
  await session.idle
  expect(all(events, 'checkpoint')).toEqual([])
  expect(all(events, 'checkpoint_problem')).toMatchObject([
    { code: 'other', message: expect.stringContaining('no file of it is there') },
  ])
  expect(statuses().at(-1)).toBe('finished')
})

test('a page that goes away has the run kept before it is due', async () => {
  const { session, events, steps, until } = fakeLab()
  session.handle(start)
  await until(() => steps().includes(1))
  expect(all(events, 'checkpoint')).toEqual([])
  session.handle({ type: 'checkpoint' })
  await until(() => all(events, 'checkpoint').length === 1)
  session.handle({ type: 'stop' })
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
  // It is asked for another rate, and goes on.
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

test('two broken steps and a sound one: the run goes on, and is kept again', async () => {
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
        step: 4,
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

test('a state that takes long to keep is kept less often', async () => {
  const { session, events, files, pass } = fakeLab()
  const { write } = files
  files.write = async (...args) => {
    pass(1000)
    await write(...args)
  }
  session.handle({ ...going, checkpoints: { ...OFTEN, every_ms: 1 } })
  await session.idle
  // The first in a phase, and the last; six steps take 0.6 s, and each of them would be due.
  const kept = all(events, 'checkpoint').map(({ step }) => step)
  expect(kept.length).toBeLessThan(5)
  expect(kept.at(-1)).toBe(6)
})

test('a run that takes much memory fails before it is begun, with its bytes, unless they are allowed', async () => {
  const { session, events, log, statuses } = fakeLab({ takes_bytes: 120 })
  session.handle({ type: 'plan', experiment: start.experiment })
  session.handle({ type: 'plan', experiment: {} as typeof start.experiment })
  expect(all(events, 'plan')[0]).toEqual({ type: 'plan', bytes: 120, allowed_bytes: 100 })
  session.handle(start)
  await session.idle
  expect(all(events, 'failed')).toMatchObject([{ error: { code: 'memory', bytes: 120 } }])
  expect(log).toEqual([])
  session.handle({ ...start, run: 2, allow_bytes: 120 })
  await session.idle
  expect(statuses().at(-1)).toBe('finished')
})
