// Plays a recording through the same door as the worker: commands in, events out. Nothing is
// trained.
import { isModelCommand, type ModelCommand } from '../../host/protocol/opened_model.ts'
import {
  type LabCommand,
  type LabEvent,
  PROTOCOL_VERSION,
  type RunStatus,
} from '../../host/protocol/protocol.ts'
import type { Recording } from '../../record/files/recorded.ts'
import { IS_RECORDING, replayStore } from '../state/replay.ts'
import type { LabPort } from './port.ts'

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
const NOT_MEASURED = {
  name: 'ReplayError',
  code: 'worker',
  message: `Not measured: ${IS_RECORDING}.`,
} as const
/** Commands about models that ask for nothing. */
const QUIET: readonly string[] = ['list_models', 'forget_model', 'cancel_model', 'close_model']
/** A page that slept continues where it was. */
const LONGEST_TICK_MS = 500

/** A port that says what the recorded worker said, as fast as `speed()` asks. Start, pause, resume,
 * step and stop work; whatever would change or measure the run is refused, in the way the page
 * knows. Its clock is the recording's, so the page's speeds are those of the recorded machine. */
export function replayPort(
  recording: Recording,
  speed: () => number = () => replayStore.getState().speed,
  clock: ReplayClock = browserClock,
): LabPort {
  const replay = new Replay(recording, speed, clock)
  return {
    addEventListener: (type: string, listen: never) => {
      if (type === 'message') replay.say = (data) => (listen as Listener)({ data })
    },
    terminate: () => replay.stop(),
    now: () => replay.at_ms,
    postMessage: (command) => replay.hear(command),
  }
}

type Listener = (event: { data: LabEvent }) => void

/** A recording on its way from its first event to its last. */
class Replay {
  say: (event: LabEvent) => void = () => {}
  /** Milliseconds of the recording. */
  at_ms = 0
  readonly #recording: Recording
  readonly #speed: () => number
  readonly #clock: ReplayClock
  #run: number | undefined
  #next = 0
  #step = 0
  #status: RunStatus | undefined
  #stopTicking = () => {}

  constructor(recording: Recording, speed: () => number, clock: ReplayClock) {
    this.#recording = recording
    this.#speed = speed
    this.#clock = clock
  }

  stop(): void {
    this.#stopTicking()
    this.#run = undefined
  }

  hear(command: LabCommand): void {
    if (isModelCommand(command)) return this.#refuseModel(command)
    switch (command.type) {
      case 'open':
        this.say({ type: 'hello', protocol: PROTOCOL_VERSION })
        this.say({ type: 'adapter', adapter: this.#recording.adapter })
        return
      case 'start':
        return this.#start(command)
      case 'pause':
        return this.#pause()
      case 'resume':
        return this.#play()
      case 'step':
      case 'turn':
        return this.#stepOnce()
      case 'stop':
        return this.stop()
      case 'next_phase':
        return this.#refuse({ kind: 'next_phase' })
      case 'steer':
        return this.#refuse(command.action)
      case 'benchmark':
        return this.say({ type: 'benchmark_failed', error: NOT_MEASURED })
      // What was recorded of these is played anyway.
      case 'plan':
      case 'trace':
      case 'observe':
      case 'profile':
      case 'verdict':
      case 'undo_verdict':
      case 'checkpoint':
      case 'program_answers':
      case 'measure':
        return
      case 'look':
      case 'touch': {
        const message = `Nothing is kept: ${IS_RECORDING}.`
        return this.say({ type: `${command.type}_failed`, record: command.record, message })
      }
      case 'read_checkpoint': {
        const message = `Nothing is kept: ${IS_RECORDING}.`
        return this.say({ type: 'checkpoint_file_failed', record: command.record, message })
      }
      default:
        command satisfies never
    }
  }

  /** No model is open. */
  #refuseModel({ type }: ModelCommand): void {
    if (QUIET.includes(type)) return
    const message = `No model can be opened: ${IS_RECORDING}.`
    this.say({ type: 'model_failed', message, open: [] })
  }

  get #isOver(): boolean {
    return this.#next === this.#recording.events.length
  }

  #become(to: RunStatus): void {
    if (this.#run === undefined || to === this.#status) return
    this.#status = to
    this.say({ type: 'status', run: this.#run, status: to })
  }

  /** Says the next event, of the run that plays. */
  #tell(run: number): void {
    const { at_ms, event } = this.#recording.events[this.#next++]
    this.at_ms = Math.max(this.at_ms, at_ms)
    if (event.type === 'step') this.#step = event.step
    this.say({ ...event, run } as LabEvent)
  }

  #end(): void {
    this.#stopTicking()
    this.#become('finished')
  }

  #play(): void {
    if (this.#run === undefined || this.#status === 'finished') return
    this.#stopTicking()
    this.#become('running')
    const { events } = this.#recording
    let before = this.#clock.now()
    let playedMs = this.at_ms
    this.#stopTicking = this.#clock.every(TICK_MS, () => {
      const now = this.#clock.now()
      playedMs += Math.min(LONGEST_TICK_MS, now - before) * this.#speed()
      before = now
      while (this.#run !== undefined && !this.#isOver && events[this.#next].at_ms <= playedMs)
        this.#tell(this.#run)
      if (this.#isOver) this.#end()
    })
  }

  #pause(): void {
    this.#stopTicking()
    if (this.#status !== 'finished') this.#become('paused')
  }

  /** One training step, with the events recorded of it. */
  #stepOnce(): void {
    if (this.#run === undefined || this.#status === 'finished') return
    this.#stopTicking()
    this.#become('running')
    for (let isDone = false; !this.#isOver; ) {
      const { type } = this.#recording.events[this.#next].event
      if (isDone && (type === 'step' || type === 'phase')) break
      this.#tell(this.#run)
      // Step 0 is no training step.
      isDone ||= type === 'step' && this.#step > 0
    }
    if (this.#isOver) this.#end()
    else this.#become('paused')
  }

  #start({ run, experiment, paused }: Extract<LabCommand, { type: 'start' }>): void {
    this.#stopTicking()
    this.#run = run
    this.#next = 0
    this.#step = 0
    this.at_ms = 0
    this.#status = undefined
    this.#become('preparing')
    if (JSON.stringify(experiment) !== JSON.stringify(this.#recording.experiment)) {
      const message = `Only the recorded experiment can be played: ${IS_RECORDING}.`
      this.say({ type: 'failed', run, error: { name: 'ReplayError', code: 'experiment', message } })
      this.#run = undefined
      return
    }
    if (paused) this.#become('paused')
    else this.#play()
  }

  #refuse(action: Extract<LabCommand, { type: 'steer' }>['action']): void {
    if (this.#run === undefined) return
    this.say({
      type: 'steered',
      run: this.#run,
      entry: { step: this.#step, ...action },
      experiment: this.#recording.experiment,
      steering: [],
      refused: IS_RECORDING,
    })
  }
}
