import { readFileSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { withField } from '../../document/experiment/experiment.ts'
import { MAX_LINK_LENGTH } from '../../document/links/link.ts'
import { decodeSummary, encodeSummary } from '../../document/links/summary.ts'
import type { LabCommand, LabEvent } from '../../host/protocol/protocol.ts'
import type { Recording } from '../../record/files/recorded.ts'
import { readRecording } from '../../record/files/recording.ts'
import { train } from '../client/controls.ts'
import { editField } from '../client/edits.ts'
import { closeLab, openInstead, openLab } from '../client/lab.ts'
import { replayStore } from '../state/replay.ts'
import { resultOf } from '../state/result.ts'
import { initialState, labStore } from '../state/store.ts'
import { type ReplayClock, replayPort } from './replay_port.ts'
import { recordedState } from './shipped_recording.ts'

const read = readRecording(readFileSync('public/recordings/first-steps.json', 'utf8'))
if (!read.ok) throw new Error(read.problem)
const recording: Recording = read.recording
const { experiment, events } = recording
const total = experiment.phases.reduce((sum, { steps }) => sum + steps, 0)

/** What this experiment's page tells a run by. */
const accuracy = ({ task }: typeof experiment) => `val-aux/${task.id}/acc/greedy`

/** A clock that only moves when a test advances it. */
class HandClock implements ReplayClock {
  ms = 0
  ticks = new Set<() => void>()
  now = () => this.ms
  every(_: number, tick: () => void) {
    this.ticks.add(tick)
    return () => this.ticks.delete(tick)
  }
  pass(ms: number) {
    for (let left = ms; left > 0; left -= 40) {
      this.ms += Math.min(40, left)
      for (const tick of [...this.ticks]) tick()
    }
  }
}

function playing(speed = 1) {
  const clock = new HandClock()
  const said: { event: LabEvent; at_ms: number }[] = []
  const port = replayPort(recording, () => speed, clock)
  port.addEventListener('message', ({ data }) =>
    said.push({ event: data, at_ms: port.now?.() ?? Number.NaN }),
  )
  const post = (command: LabCommand) => port.postMessage(command)
  const of = <T extends LabEvent['type']>(type: T) =>
    said.flatMap(({ event }) =>
      event.type === type ? [event as Extract<LabEvent, { type: T }>] : [],
    )
  const statuses = () => of('status').map(({ status }) => status)
  const begin = (paused = false) => post({ type: 'start', run: 7, record: 'r', experiment, paused })
  return { clock, said, port, post, of, statuses, begin }
}

test('the whole run is played in order, with the number of the run and the times of the recording', () => {
  const { clock, said, post, of, statuses, begin } = playing()
  post({ type: 'open' })
  expect(said.map(({ event }) => event.type)).toEqual(['hello', 'adapter'])
  begin()
  clock.pass(60_000)
  expect(statuses()).toEqual(['preparing', 'running', 'finished'])
  expect(of('step').map(({ step }) => step)).toEqual(Array.from({ length: total + 1 }, (_, i) => i))
  const told = said.filter(({ event }) => 'run' in event && event.type !== 'status')
  expect(told.every(({ event }) => 'run' in event && event.run === 7)).toBe(true)
  expect(told.map(({ at_ms }) => at_ms)).toEqual(events.map(({ at_ms }) => at_ms))
  expect(clock.ticks.size).toBe(0)
})

test('the speed is a multiple of the recorded pace, and the page sees recorded times', () => {
  const slow = playing(1)
  const fast = playing(8)
  for (const { begin, clock } of [slow, fast]) {
    begin()
    clock.pass(2000)
  }
  const until = (ms: number) => events.filter(({ at_ms }) => at_ms <= ms).length
  const count = ({ said }: typeof slow) =>
    said.filter(({ event }) => event.type !== 'status').length
  expect([count(slow), count(fast)]).toEqual([until(2000), until(16_000)])
  expect(count(fast)).toBeGreaterThan(count(slow))
})

test('a pause stops it, a step plays one step with its events, and it continues from there', () => {
  const { clock, of, post, statuses, begin } = playing()
  begin(true)
  clock.pass(5000)
  expect(of('step')).toEqual([])
  post({ type: 'step' })
  // Step 0 is no training step.
  expect(of('step').map(({ step }) => step)).toEqual([0, 1])
  post({ type: 'step' })
  expect(of('step').length).toBe(3)
  expect(statuses()).toEqual(['preparing', 'paused', 'running', 'paused', 'running', 'paused'])
  post({ type: 'resume' })
  clock.pass(3000)
  const soFar = of('step').length
  expect(soFar).toBeGreaterThan(3)
  post({ type: 'pause' })
  clock.pass(3000)
  expect(of('step').length).toBe(soFar)
  post({ type: 'resume' })
  clock.pass(60_000)
  expect(of('step').length).toBe(total + 1)
  post({ type: 'step' })
  expect(statuses().at(-1)).toBe('finished')
})

test('dropped and started again it plays from the start; dropped it stays silent', () => {
  const { clock, said, of, post, port, begin } = playing()
  begin()
  clock.pass(4000)
  post({ type: 'stop' })
  const before = said.length
  clock.pass(4000)
  expect(said.length).toBe(before)
  begin()
  clock.pass(60_000)
  expect(of('step').filter(({ step }) => step === 0).length).toBe(2)
  begin()
  port.terminate()
  const after = said.length
  clock.pass(4000)
  expect(said.length).toBe(after)
})

test('what would change or measure the run is refused with a reason', () => {
  const { clock, of, post, begin } = playing()
  begin()
  clock.pass(1000)
  post({ type: 'next_phase' })
  post({ type: 'steer', action: { kind: 'set', path: 'actor.optim.lr', value: 1 } })
  post({ type: 'benchmark' })
  for (const { refused } of of('steered')) expect(refused).toMatch(/this is a recording/)
  expect(of('steered').length).toBe(2)
  expect(of('benchmark_failed')[0].error.message).toMatch(/this is a recording/)
  const other = withField(experiment, 'seed', 5)
  if (!other.ok) throw new Error(other.message)
  post({ type: 'start', run: 8, record: 'r', experiment: other.experiment, paused: false })
  expect(of('failed')[0]).toMatchObject({ run: 8, error: { code: 'experiment' } })
})

test('the recorded run draws what the page draws, and its curves fit into a short link', () => {
  const state = recordedState(recording)
  expect(state.step).toBe(total)
  expect(state.metrics['critic/score/mean']).toBeGreaterThan(0.2)
  expect(state.samples.length).toBeGreaterThan(0)
  expect(state.kept.traces.items.length).toBeGreaterThan(0)
  expect(state.trace?.table.phase.kind).toBe('rl')
  expect(state.timing.steps_per_second).toBeGreaterThan(0)
  const result = resultOf(state, accuracy)
  if (!result) throw new Error('no result')
  expect(result.lines.map(({ name }) => name)).toEqual([
    'critic/score/mean',
    'val-aux/acc/greedy',
    'actor/ppo_kl',
    'layer/entropy/3',
    'layer/entropy/0',
    'layer/entropy/1',
    'layer/entropy/2',
  ])
  const text = encodeSummary(result)
  expect(text.length).toBeLessThan(MAX_LINK_LENGTH / 2)
  expect(decodeSummary(text).result?.steps).toBe(total)
})

test('there is no result before the first step', () => {
  expect(resultOf(initialState(), accuracy)).toBeUndefined()
})

afterEach(() => {
  closeLab()
  replayStore.setState({ recording: undefined, speed: 1 })
})

test('in the page a recording takes the worker’s place, locks the settings, and gives both back', () => {
  const commands: string[] = []
  const queries: string[] = []
  openLab(
    () => ({
      postMessage: ({ type }: LabCommand) => commands.push(type),
      terminate: () => commands.push('terminate'),
      addEventListener: () => {},
    }),
    {
      address: 'https://understory.example/',
      query: 'v=1&p=two-skills-grpo&seed=9',
      hash: '',
      replaceQuery: (query) => queries.push(query),
      nextFrame: (flush) => flush(),
      recall: () => undefined,
      remember: () => {},
      now: () => 0,
    },
  )
  const clock = new HandClock()
  const leave = openInstead(() => replayPort(recording, () => 32, clock), experiment)
  replayStore.setState({ recording })
  expect(editField('seed', 3)).toMatch(/this is a recording/)
  expect(labStore.getState().preset_id).toBe('first-steps')
  train()
  clock.pass(10_000)
  expect(labStore.getState()).toMatchObject({ status: 'finished', step: total })
  expect(labStore.getState().adapter).toEqual(recording.adapter)
  replayStore.setState({ recording: undefined })
  leave()
  expect(commands).toEqual(['open', 'terminate', 'open'])
  expect(labStore.getState()).toMatchObject({
    status: 'loading',
    step: 0,
    preset_id: 'two-skills-grpo',
  })
  expect(labStore.getState().experiment.seed).toBe(9)
  expect(editField('seed', 3)).toBeUndefined()
  expect(queries).toEqual([])
})
