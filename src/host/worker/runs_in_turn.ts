// Runs small runs that share a device, a step of each in turn. A run is let in when its memory plan
// fits beside those of the runs that are in: together they take no more than one run may without
// asking. The others wait, in their order.
import { parseExperiment } from '../../document/experiment/experiment.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { RunCommand } from '../protocol/protocol.ts'
import type { SessionHost } from './base/session_host.ts'
import { Run } from './run.ts'
import { Rounds } from './shared/rounds.ts'

type Start = Extract<RunCommand, { type: 'start' }>

/** A run that was started and is not over. */
interface Member {
  readonly run: Run
  readonly bytes: number
  isIn: boolean
  /** Ends its waiting. */
  enter(): void
}

export class RunsInTurn {
  readonly #host: SessionHost
  /** Drives a run to its end and says what went wrong. Never rejects. */
  readonly #drive: (run: Run, id: number) => Promise<void>
  readonly #rounds = new Rounds()
  /** In the order in which they were started. */
  readonly #members = new Map<number, Member>()
  /** Bytes that all of them may take together. */
  #allowed = 0
  #all: Promise<unknown> = Promise.resolve()

  constructor(host: SessionHost, drive: (run: Run, id: number) => Promise<void>) {
    this.#host = host
    this.#drive = drive
  }

  /** Starts a run beside the others, once `ready`; it steps when there is room for it. */
  start(command: Start, ready: Promise<unknown>): void {
    const { run: id, experiment } = command
    const run = new Run(this.#hostOf(id), command)
    const member: Member = {
      run,
      bytes: this.#plannedBytes(experiment),
      isIn: false,
      enter: () => {},
    }
    const entered = new Promise<void>((resolve) => {
      member.enter = resolve
    })
    this.#members.set(id, member)
    this.#letIn()
    if (!member.isIn) this.#host.post({ type: 'waits', run: id })
    const over = Promise.all([entered, ready])
      .then(() => this.#drive(run, id))
      .then(() => {
        this.#members.delete(id)
        this.#rounds.leave(id)
        this.#letIn()
      })
    this.#all = Promise.all([this.#all, over])
  }

  /** Has all rest after the step in flight, and keep their states. */
  pause(): void {
    for (const { run } of this.#members.values())
      run.orders.change({ budget: 0, wantsCheckpoint: true })
  }

  /** Ends one run after its step, or all. */
  stop(id?: number): void {
    for (const [own, { run, enter }] of this.#members)
      if (id === undefined || own === id) {
        run.orders.change({ isStopped: true })
        this.#rounds.leave(own)
        // One that waits ends without having taken any memory.
        enter()
      }
  }

  /** Resolves when all runs that were started so far are over. */
  get idle(): Promise<unknown> {
    return this.#all
  }

  /** The others wait behind the first that does not fit, so that a large one comes in at some
   * time. */
  #letIn(): void {
    for (const member of this.#members.values()) {
      if (member.isIn) continue
      const held = [...this.#members.values()].filter(({ isIn }) => isIn)
      const bytes = held.reduce((sum, other) => sum + other.bytes, member.bytes)
      if (held.length > 0 && bytes > this.#allowed) return
      member.isIn = true
      member.enter()
    }
  }

  /** What cannot be planned is refused, with its reason, when it is driven. */
  #plannedBytes(experiment: Experiment): number {
    const parsed = parseExperiment(experiment)
    try {
      const plan = parsed.ok ? this.#host.plan?.(parsed.experiment) : undefined
      this.#allowed = plan?.allowed_bytes ?? this.#allowed
      return plan?.bytes ?? 0
    } catch {
      // Such as a reward that does not exist.
      return 0
    }
  }

  #hostOf(id: number): SessionHost {
    const host = this.#host
    return {
      ...host,
      prepare: (experiment, isCareful, allowBytes) =>
        host.prepare(experiment, isCareful, allowBytes, true),
      between: () => this.#rounds.next(id),
      post: (event) => {
        if (event.type === 'status' && event.status !== 'running') this.#rounds.leave(id)
        host.post(event)
      },
    }
  }
}
