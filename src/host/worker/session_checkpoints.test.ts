// Tests how a run is kept, how another session continues it, and how much memory it may take.
import { expect, test } from 'vitest'
import { all, fakeLab, going, OFTEN, start } from '../testing.ts'

test('a run is kept while it trains, and its end at last', async () => {
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

test('a kept run continues in another session, from the newest sound checkpoint', async () => {
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
    error: {
      code: 'checkpoint',
      message: expect.stringContaining('Press Train to start it again'),
    },
  })
})

test('full storage is said once, and the run continues; its newest state can be had as a file', async () => {
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
