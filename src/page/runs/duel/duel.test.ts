import { afterEach, beforeEach, expect, test } from 'vitest'
import { newPhase, withField } from '../../../document/experiment/experiment.ts'
import type { LabCommand, LabEvent } from '../../../host/protocol/protocol.ts'
import { pause, resume } from '../../client/controls.ts'
import { closeLab, openLab } from '../../client/lab.ts'
import { wantObserved } from '../../client/observing.ts'
import { reset } from '../../client/starting.ts'
import type { LabPort } from '../../connection/port.ts'
import { labStore } from '../../state/store.ts'
import { stepEvent, TINY } from '../testing.ts'
import { duelProblem, duelStore, endDuel, startDuel } from './duel.ts'

class FakePort {
  commands: string[] = []
  isTerminated = false
  #hear: (event: { data: LabEvent }) => void = () => {}
  /** Groups of each request, the start's first. */
  groups: (readonly string[] | undefined)[] = []
  postMessage(command: LabCommand) {
    this.commands.push(command.type)
    if (command.type === 'start') this.groups.push(command.observe?.groups)
    if (command.type === 'observe') this.groups.push(command.request.groups)
  }
  terminate() {
    this.isTerminated = true
  }
  addEventListener(type: string, listener: (event: { data: LabEvent }) => void) {
    if (type === 'message') this.#hear = listener
  }
  says(...events: LabEvent[]) {
    for (const data of events) this.#hear({ data })
  }
  /** What was asked since the last time. */
  asked(): string[] {
    return this.commands.splice(0)
  }
}

let first: FakePort
let second: FakePort | undefined
let frames: (() => void)[]
const draw = () => {
  for (const frame of frames.splice(0)) frame()
}
const status = (run: number, said: 'running' | 'paused' | 'finished'): LabEvent => ({
  type: 'status',
  run,
  status: said,
})

beforeEach(() => {
  first = new FakePort()
  second = undefined
  frames = []
  openLab(() => first as unknown as LabPort, {
    address: 'https://understory.example/',
    query: '?p=tiny',
    hash: '',
    replaceQuery: () => {},
    nextFrame: (flush) => frames.push(flush),
    recall: () => undefined,
    remember: () => {},
    now: () => 0,
  })
})
afterEach(() => {
  endDuel()
  closeLab()
})

/** Both have begun; the first one has taken a step and the second one has its turn. */
function begin(): { run: number; second: FakePort } {
  const ports: FakePort[] = []
  startDuel(TINY.experiment, TINY.id, {
    createPort: () => {
      second = new FakePort()
      ports.push(second)
      return second as unknown as LabPort
    },
    newRecorder: () => undefined,
    nextFrame: (flush) => frames.push(flush),
    now: () => 0,
  })
  const { run } = labStore.getState()
  expect(first.asked()).toEqual(['open', 'start', 'turn'])
  expect(ports).toHaveLength(0)
  // Step 0 is no training step and ends no turn.
  first.says(status(run, 'running'), stepEvent(run, 0))
  expect(ports).toHaveLength(0)
  first.says(stepEvent(run, 1))
  expect(ports).toHaveLength(1)
  expect(ports[0].asked()).toEqual(['start', 'turn'])
  return { run, second: ports[0] }
}

test('the runs step in turns, and the second one has a state of its own', () => {
  const { run, second } = begin()
  second.says(status(1, 'running'), stepEvent(1, 0), stepEvent(1, 1))
  expect(first.asked()).toEqual(['turn'])
  first.says(stepEvent(run, 2))
  expect(second.asked()).toEqual(['turn'])
  draw()
  expect(labStore.getState().step).toBe(2)
  expect(duelStore.getState().second?.step).toBe(1)
})

test('what panels want is observed of both, also once the first one is over', () => {
  const stopFlow = wantObserved('flow', { groups: ['flow'] })
  const { run, second } = begin()
  draw()
  expect(second.groups).toEqual([['flow']])
  const stopMore = wantObserved('cosines', { groups: ['cosines'] })
  draw()
  expect(second.groups.at(-1)).toEqual(['flow', 'cosines'])
  expect(first.groups.at(-1)).toEqual(['flow', 'cosines'])
  first.says(status(run, 'finished'))
  draw()
  stopFlow()
  draw()
  expect(second.groups.slice(2)).toEqual([['cosines']])
  stopMore()
  endDuel()
  draw()
  expect(second.groups).toHaveLength(3)
})

test('a pause holds both, and then they take turns again', () => {
  const { run, second } = begin()
  pause()
  first.says(status(run, 'paused'))
  expect(first.asked()).toEqual(['pause'])
  expect(second.asked()).toEqual(['pause'])
  second.says(stepEvent(1, 0), stepEvent(1, 1), status(1, 'paused'))
  expect(first.asked()).toEqual([])
  resume()
  expect(first.asked()).toEqual(['turn'])
  first.says(status(run, 'running'), stepEvent(run, 2))
  expect(second.asked()).toEqual(['turn'])
})

test('when one is over the other continues by itself', () => {
  const { run, second } = begin()
  first.says(status(run, 'finished'))
  expect(second.asked()).toEqual(['resume'])
  second.says(stepEvent(1, 1))
  expect(first.asked()).toEqual([])
})

test('when the second one fails the first continues by itself', () => {
  const { run, second } = begin()
  draw()
  expect(labStore.getState()).toMatchObject({ run, status: 'running' })
  const error = { name: 'GpuError', code: 'out_of_memory', message: 'no room' } as const
  second.says({ type: 'failed', run: 1, error })
  expect(first.asked()).toEqual(['resume'])
  draw()
  expect(duelStore.getState().second).toMatchObject({ status: 'failed', error })
})

test('a run that is dropped ends the second one too', () => {
  const { second } = begin()
  reset()
  expect(second.isTerminated).toBe(true)
  expect(duelStore.getState().second).toBeUndefined()
  expect(first.asked()).toEqual(['stop', 'open'])
})

test('other seeds, other tasks and questions to people are refused with the reason', () => {
  const { experiment } = TINY
  const changed = (path: string, value: unknown) => {
    const result = withField(experiment, path, value)
    if (!result.ok) throw new Error(result.message)
    return result.experiment
  }
  expect(duelProblem(experiment, changed('actor.optim.lr', 0.05))).toBeUndefined()
  expect(duelProblem(experiment, changed('seed', 2))).toMatch(/seed 2/)
  expect(duelProblem(experiment, changed('task.length', 4))).toMatch(/task/)
  const taught = (source: 'judge' | 'human' | 'mixed' | 'file') => {
    const phase = newPhase('preference')
    if (phase.kind !== 'preference') throw new Error('expected a phase of preferences')
    return { ...experiment, phases: [{ ...phase, pairs: { ...phase.pairs, source } }] }
  }
  for (const source of ['judge', 'file'] as const)
    expect(duelProblem(experiment, taught(source)), source).toBeUndefined()
  for (const source of ['human', 'mixed'] as const)
    expect(duelProblem(experiment, taught(source)), source).toBeDefined()
})
