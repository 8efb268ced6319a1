// Tests what open panels see of a run: while it trains, in a pause, and while it waits.
import { expect, test } from 'vitest'
import { NO_OBSERVATION } from '../protocol/observation.ts'
import type { LabEvent } from '../protocol/protocol.ts'
import { asking } from '../protocol/testing.ts'
import { fakeLab, start } from '../testing.ts'

const { experiment } = start

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

test('nobody asks, and nothing is sent or observed', async () => {
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

test('it is told which step shows what panels want, where not every step does', async () => {
  const told = async (every: number) => {
    const { session, events } = fakeLab()
    const observe = asking(['flow'], { every })
    session.handle({ type: 'start', run: 1, record: 'r1', experiment, paused: false, observe })
    await session.idle
    return events.flatMap((e) => (e.type === 'observing' ? [e.step] : []))
  }
  expect(await told(4)).toEqual([0, 4, 8])
  expect(await told(1)).toEqual([])
})
