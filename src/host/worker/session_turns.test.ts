// Runs that share a device: a step of each in turn, as many as there is memory for.
import { expect, test } from 'vitest'
import type { LabEvent } from '../protocol/protocol.ts'
import { all, fakeLab, going } from '../testing.ts'
import { gpuError } from './testing.ts'

const turn = (run: number) => ({ ...going, run, record: `r${run}`, in_turn: true }) as const
/** The runs in the order of their steps. */
const order = (events: readonly LabEvent[]) =>
  events.flatMap((event) => (event.type === 'step' ? [`${event.run}:${event.step}`] : []))
const ended = (events: readonly LabEvent[]) =>
  events.flatMap((event) =>
    event.type === 'status' && event.status === 'finished' ? [event.run] : [],
  )

test('two runs step in turn to their ends, and a third joins where they are', async () => {
  const { session, events, until, log } = fakeLab()
  session.handle(turn(1))
  session.handle(turn(2))
  await until(() => order(events).includes('1:0'))
  session.handle(turn(3))
  await session.idle
  const steps = (run: number) => order(events).filter((one) => one.startsWith(`${run}:`))
  for (const run of [1, 2, 3]) expect(steps(run)).toHaveLength(7)
  // None of the first two is ever more than a step ahead of the other.
  const ahead = order(events).flatMap((_, i, list) => {
    const [first, second] = [1, 2].map(
      (run) => list.slice(0, i + 1).filter((one) => one.startsWith(`${run}:`)).length,
    )
    return list.slice(0, i + 1).some((one) => one.endsWith(':6')) ? [] : [Math.abs(first - second)]
  })
  expect(Math.max(...ahead)).toBeLessThanOrEqual(1)
  expect(order(events).indexOf('3:1')).toBeLessThan(order(events).indexOf('1:6'))
  expect(ended(events).sort()).toEqual([1, 2, 3])
  expect(log.filter((line) => line === 'free')).toHaveLength(3)
})

test('a run whose memory does not fit beside the others waits until one is over', async () => {
  const { session, events } = fakeLab({ takes_bytes: 40 })
  for (const run of [1, 2, 3]) session.handle(turn(run))
  await session.idle
  expect(all(events, 'waits')).toEqual([{ type: 'waits', run: 3 }])
  expect(order(events).indexOf('3:0')).toBeGreaterThan(order(events).indexOf('1:6'))
  expect(ended(events)).toHaveLength(3)
})

test('a lost device is that of all: each continues from its own state, and one that was stopped does not', async () => {
  const { session, events, until, lose } = fakeLab({ hangAt: 4 })
  for (const run of [1, 2, 3]) session.handle(turn(run))
  await until(() => order(events).includes('1:3'))
  session.handle({ type: 'stop', run: 1 })
  lose(gpuError('lost', 'gone'))
  await session.idle
  expect(all(events, 'restored').map(({ run }) => run)).toEqual([2, 3])
  for (const { step } of all(events, 'restored')) expect(step).toBeGreaterThan(0)
  expect(ended(events).sort()).toEqual([2, 3])
})

test('another run ends those that take turns, and is freed after them', async () => {
  const { session, events, until, log } = fakeLab()
  session.handle(turn(1))
  session.handle(turn(2))
  await until(() => order(events).length > 3)
  session.handle({ ...going, run: 3 })
  await session.idle
  expect(ended(events)).toEqual([3])
  expect(log.filter((line) => /create|free/.test(line))).toEqual([
    'create',
    'create',
    'free',
    'free',
    'create',
    'free',
  ])
})

test('in a pause all rest, and their last steps are kept', async () => {
  const { session, events, until } = fakeLab()
  // By the clock alone no state is due.
  const rare = { every_steps: 0, every_ms: 1e9, budget_bytes: 1e9 }
  for (const run of [1, 2]) session.handle({ ...turn(run), checkpoints: rare })
  await until(() => order(events).includes('1:2'))
  session.handle({ type: 'pause' })
  const has = (run: number) => (event: LabEvent) => 'run' in event && event.run === run
  const isKept = (run: number) => {
    const last = all(events, 'step').findLast(has(run))?.step
    const isPaused = all(events, 'status').findLast(has(run))?.status === 'paused'
    return isPaused && all(events, 'checkpoint').findLast(has(run))?.step === last
  }
  await until(() => isKept(1) && isKept(2))
  expect(ended(events)).toEqual([])
  session.handle({ type: 'stop' })
  await session.idle
})

test('what is stopped while it waits takes no memory', async () => {
  const { session, events, log } = fakeLab({ takes_bytes: 60 })
  session.handle(turn(1))
  session.handle(turn(2))
  session.handle({ type: 'stop', run: 2 })
  await session.idle
  expect(ended(events)).toEqual([1])
  expect(log.filter((line) => line === 'create')).toHaveLength(1)
})

test('a run that is refused says so, and the others are not kept waiting', async () => {
  const { session, events } = fakeLab()
  const { experiment } = going
  session.handle({ ...turn(1), experiment: { ...experiment, seed: -1 } })
  session.handle(turn(2))
  await session.idle
  expect(all(events, 'failed')).toMatchObject([{ run: 1, error: { code: 'experiment' } }])
  expect(ended(events)).toEqual([2])
})
