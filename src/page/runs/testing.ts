// Helps the tests of records; never shipped.

import { PRESETS } from '../../document/presets/presets.ts'
import type { LabEvent } from '../../host/protocol/protocol.ts'
import type { RolloutSample } from '../../host/protocol/results.ts'
import { emptyKept } from '../../record/run/kept_run.ts'
import type { RunStorage } from '../../record/run/storage.ts'
import { applyEvent } from '../events/apply.ts'
import { emptyRun, initialState, type LabState } from '../state/store.ts'
import { RunRecorder } from './recorder/recorder.ts'
import type { RecorderHost } from './recorder/recorder_host.ts'

export const TINY = PRESETS.find(({ id }) => id === 'tiny') ?? PRESETS[0]

export const sampleOf = (step: number, response = `${step}`): RolloutSample => ({
  prompt: '3 1 2',
  response,
  ground_truth: '1 2 3',
  score: 1,
  advantage: 0.5,
  response_length: 4,
  is_ended: true,
})

/** A state as Train leaves it. */
export const begun = (run: number, experiment = TINY.experiment): LabState => ({
  ...initialState(),
  ...emptyRun(),
  kept: emptyKept(),
  series: new Map(),
  status: 'preparing',
  preset_id: TINY.id,
  run,
  record: `run-${run}`,
  experiment,
  runExperiment: experiment,
  runDocument: experiment,
})

export const told = (state: LabState, ...events: LabEvent[]): LabState =>
  events.reduce((before, event) => applyEvent(before, event, 0), state)

export const stepEvent = (
  run: number,
  step: number,
  metrics: Record<string, number> = { 'critic/score/mean': step / 10 },
): LabEvent => ({ type: 'step', run, step, phase: 0, phase_step: step, metrics })

/** A recorder with a clock that the test moves. */
export function recorderOn(storage: RunStorage, said: Partial<RecorderHost> = {}) {
  const timers: { at: number; call: () => void }[] = []
  const clock = { now: 1000 }
  const problems: unknown[] = []
  const recorder = new RunRecorder({
    storage,
    version: '0.0.0',
    adapterName: () => 'Test adapter',
    now: () => clock.now,
    later: (ms, call) => {
      const timer = { at: clock.now + ms, call }
      timers.push(timer)
      return () => {
        const i = timers.indexOf(timer)
        if (i >= 0) timers.splice(i, 1)
      }
    },
    parentOf: () => undefined,
    headerOf: () => undefined,
    onBegun: () => {},
    onWritten: () => {},
    onGone: () => {},
    onProblem: (error) => problems.push(error),
    ...said,
  })
  const settle = () => new Promise<void>((resolve) => setTimeout(resolve))
  const pass = async (ms: number) => {
    clock.now += ms
    for (const timer of timers.filter(({ at }) => at <= clock.now)) {
      timers.splice(timers.indexOf(timer), 1)
      timer.call()
    }
    await settle()
  }
  return { recorder, clock, pass, settle, problems, timers }
}

/** The browser's locks, as far as runs use them; all tabs of a test share one. */
export function testLocks(): Pick<LockManager, 'request' | 'query'> {
  const ends = new Map<string, Promise<unknown>>()
  const request = async (name: string, ...rest: unknown[]): Promise<unknown> => {
    const grant = rest.at(-1) as (lock: Lock | null) => unknown
    const { ifAvailable = false, mode = 'exclusive' } = (
      rest.length > 1 ? rest[0] : {}
    ) as LockOptions
    await Promise.resolve()
    if (ifAvailable && ends.has(name)) return grant(null)
    while (ends.has(name)) await ends.get(name)
    const done = Promise.resolve(grant({ name, mode })).finally(() => ends.delete(name))
    ends.set(name, done)
    return done
  }
  const query = async () => ({ held: [...ends.keys()].map((name) => ({ name })), pending: [] })
  return { request: request as LockManager['request'], query }
}
