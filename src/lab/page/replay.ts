// Plays a recording through the same door as the worker: commands in, events out. Nothing is trained.
import { createStore } from 'zustand/vanilla'
import {
  type LabCommand,
  type LabEvent,
  PROTOCOL_VERSION,
  type RunStatus,
} from '../protocol/protocol.ts'
import type { LabPort } from './port.ts'
import type { Recording } from './recorded.ts'

/** Times the pace of the recorded machine. */
export const SPEEDS = [1, 2, 4, 8, 16, 32] as const
export type Speed = (typeof SPEEDS)[number]

/** Why a recording does not obey. */
export const IS_RECORDING = 'this is a recording; nothing is trained'

export interface ReplayState {
  /** What is played in place of the worker's runs; undefined while the worker is at work. */
  readonly recording: Recording | undefined
  readonly speed: Speed
}

export const replayStore = createStore<ReplayState>(() => ({ recording: undefined, speed: 1 }))

export const isReplaying = (): boolean => replayStore.getState().recording !== undefined

/** What a replay needs of time. Milliseconds. */
export interface ReplayClock {
  now(): number
  /** Calls `tick` every so often; returns how to stop. */
  every(ms: number, tick: () => void): () => void
}

const browserClock: ReplayClock = {
  now: () => performance.now(),
  every: (ms, tick) => {
    const timer = setInterval(tick, ms)
    return () => clearInterval(timer)
  },
}

const TICK_MS = 40
/** A page that slept goes on where it was. */
const LONGEST_TICK_MS = 500

/**
 * A port that says what the recorded worker said, as fast as `speed()` asks. Start, pause, resume, step and stop work; whatever
 * would change or measure the run is refused, in the way the page knows. Its clock is the recording's, so the page's speeds
 * are those of the recorded machine.
 */
export function replayPort(
  { adapter, experiment, events }: Recording,
  speed: () => number = () => replayStore.getState().speed,
  clock: ReplayClock = browserClock,
): LabPort {
  let listener: (event: { data: LabEvent }) => void = () => {}
  let run: number | undefined
  let next = 0
  let step = 0
  /** Milliseconds of the recording. */
  let at_ms = 0
  let status: RunStatus | undefined
  let stopTicking = () => {}
  const say = (data: LabEvent) => listener({ data })

  const become = (to: RunStatus) => {
    if (run === undefined || to === status) return
    status = to
    say({ type: 'status', run, status: to })
  }
  const tell = (own_run: number) => {
    const { at_ms: recorded_ms, event } = events[next++]
    at_ms = Math.max(at_ms, recorded_ms)
    if (event.type === 'step') step = event.step
    say({ ...event, run: own_run } as LabEvent)
  }
  const end = () => {
    stopTicking()
    become('finished')
  }
  const play = () => {
    if (run === undefined || status === 'finished') return
    stopTicking()
    become('running')
    let before = clock.now()
    let played_ms = at_ms
    stopTicking = clock.every(TICK_MS, () => {
      const now = clock.now()
      played_ms += Math.min(LONGEST_TICK_MS, now - before) * speed()
      before = now
      while (run !== undefined && next < events.length && events[next].at_ms <= played_ms) tell(run)
      if (next === events.length) end()
    })
  }
  const pause = () => {
    stopTicking()
    if (status !== 'finished') become('paused')
  }
  /** One training step, and what was told of it. */
  const stepOnce = () => {
    if (run === undefined || status === 'finished') return
    stopTicking()
    become('running')
    for (let is_done = false; next < events.length; ) {
      const { type } = events[next].event
      if (is_done && (type === 'step' || type === 'phase')) break
      tell(run)
      // Step 0 is no training step.
      is_done ||= type === 'step' && step > 0
    }
    if (next === events.length) end()
    else become('paused')
  }
  const start = (command: Extract<LabCommand, { type: 'start' }>) => {
    stopTicking()
    run = command.run
    next = 0
    step = 0
    at_ms = 0
    status = undefined
    become('preparing')
    if (JSON.stringify(command.experiment) !== JSON.stringify(experiment)) {
      const message = `Only the recorded experiment can be played: ${IS_RECORDING}.`
      say({ type: 'failed', run, error: { name: 'ReplayError', code: 'experiment', message } })
      run = undefined
      return
    }
    if (command.paused) become('paused')
    else play()
  }
  const refuse = (action: Extract<LabCommand, { type: 'steer' }>['action']) => {
    if (run === undefined) return
    say({
      type: 'steered',
      run,
      entry: { step, ...action },
      experiment,
      steering: [],
      refused: IS_RECORDING,
    })
  }

  return {
    addEventListener: (type: string, listen: never) => {
      if (type === 'message') listener = listen
    },
    terminate: () => {
      stopTicking()
      run = undefined
    },
    now: () => at_ms,
    postMessage: (command) => {
      switch (command.type) {
        case 'open':
          say({ type: 'hello', protocol: PROTOCOL_VERSION })
          say({ type: 'adapter', adapter })
          return
        case 'start':
          start(command)
          return
        case 'pause':
          pause()
          return
        case 'resume':
          play()
          return
        case 'step':
        case 'turn':
          stepOnce()
          return
        case 'stop':
          stopTicking()
          run = undefined
          return
        case 'next_phase':
          refuse({ kind: 'next_phase' })
          return
        case 'steer':
          refuse(command.action)
          return
        case 'benchmark':
          say({
            type: 'benchmark_failed',
            error: {
              name: 'ReplayError',
              code: 'worker',
              message: `Not measured: ${IS_RECORDING}.`,
            },
          })
          return
        // What was recorded of these comes by itself.
        case 'plan':
        case 'trace':
        case 'observe':
        case 'profile':
        case 'verdict':
        case 'undo_verdict':
        case 'checkpoint':
          return
        case 'read_checkpoint': {
          const message = `Nothing is kept: ${IS_RECORDING}.`
          say({ type: 'checkpoint_file_failed', record: command.record, message })
          return
        }
        default:
          command satisfies never
      }
    },
  }
}
