// Takes commands and posts events: what the worker receives, and what it posts. Knows neither the
// worker nor the GPU, so Node can test it.

import { parseExperiment } from '../../document/experiment/experiment.ts'
import type { Checkpoint } from '../checkpoints/file/checkpoint.ts'
import { newestFirst } from '../checkpoints/schedule.ts'
import type { LookCommand } from '../protocol/look.ts'
import type { PlanCommand } from '../protocol/plan.ts'
import type { RunCommand } from '../protocol/protocol.ts'
import type { TouchCommand } from '../protocol/touch.ts'
import { labError, type SessionHost } from './base/session_host.ts'
import { beginningOf, keptState, lookInto } from './opened/look.ts'
import { touchInto } from './opened/touch.ts'
import { Run } from './run.ts'
import { RunsInTurn } from './runs_in_turn.ts'

export type { OpenRun, RunDevice, RunTrainer, SessionHost } from './base/session_host.ts'
export { ExperimentError, labError } from './base/session_host.ts'

/** One run at a time. A new one waits until the step in flight of the old one is done and its
 * memory freed. Or several runs that take turns, which know no commands but `start`,
 * `pause` and `stop`. */
export class Session {
  readonly #host: SessionHost
  readonly #inTurn: RunsInTurn
  #run: Run | undefined
  #tail: Promise<unknown> = Promise.resolve()

  constructor(host: SessionHost) {
    this.#host = host
    this.#inTurn = new RunsInTurn(host, (run, id) => this.#drive(run, id))
  }

  /** Acts on a command. Never throws: what goes wrong is posted as `failed`. */
  handle(command: RunCommand): void {
    switch (command.type) {
      case 'open':
        this.#then(() => this.#open())
        return
      case 'start': {
        if (command.in_turn) {
          this.#inTurn.start(command, this.#tail)
          return
        }
        this.#stop()
        const run = new Run(this.#host, command)
        this.#run = run
        this.#then(() => this.#drive(run, command.run))
        return
      }
      case 'plan':
        this.#plan(command)
        return
      case 'benchmark':
        this.#then(() => this.#benchmark())
        return
      case 'measure':
        this.#then(() => this.#measure())
        return
      case 'verdict':
        this.#run?.decide(command.id, command.choice)
        return
      case 'undo_verdict':
        this.#run?.undoVerdict()
        return
      case 'read_checkpoint':
        void this.#readCheckpoint(command.record, command.step)
        return
      case 'look':
        this.#then(() => this.#look(command))
        return
      case 'touch':
        this.#then(() => this.#touch(command))
        return
      case 'stop':
        this.#stop(command.run)
        return
      case 'pause':
        this.#inTurn.pause()
        this.#run?.orders.hear(command)
        return
      default:
        this.#run?.orders.hear(command)
    }
  }

  /** Resolves when everything asked for so far is done. */
  get idle(): Promise<unknown> {
    return this.#tail.then(() => this.#inTurn.idle)
  }

  #then(work: () => Promise<unknown>): void {
    this.#tail = this.#tail.then(work)
  }

  /** The one place where an error of a run becomes a `failed` event. */
  async #drive(run: Run, id: number): Promise<void> {
    try {
      await run.drive()
    } catch (error) {
      if (!run.orders.isStopped)
        this.#host.post({ type: 'failed', run: id, error: labError(error) })
      run.orders.isStopped = true
    }
  }

  /** One of the runs that take turns, or whatever is on. */
  #stop(id?: number): void {
    this.#inTurn.stop(id)
    if (id !== undefined) return
    this.#then(() => this.#inTurn.idle)
    this.#run?.orders.change({ isStopped: true })
    this.#run = undefined
  }

  /** Not in line with the runs: it leaves the GPU alone. */
  async #readCheckpoint(record: string, step: number | undefined): Promise<void> {
    const { post } = this.#host
    try {
      const { bytes, at } = await this.#checkpoint(record, step)
      post({ type: 'checkpoint_file', record, step: at, bytes: bytes.buffer })
    } catch (error) {
      post({ type: 'checkpoint_file_failed', record, message: labError(error).message })
    }
  }

  /** Without `step`, the newest state of the run. Throws RangeError where nothing is kept. */
  async #checkpoint(record: string, step: number | undefined) {
    const newest =
      step === undefined && this.#run?.record === record ? this.#run.newestCheckpoint() : undefined
    const files = (await this.#host.checkpoints?.open())?.files
    const at = newest?.step ?? step ?? newestFirst((await files?.list(record)) ?? [])[0]?.step
    const bytes = await (newest?.bytes ?? (at === undefined ? undefined : files?.read(record, at)))
    if (!bytes || at === undefined) throw new RangeError('There is no such checkpoint any more.')
    return { bytes, at }
  }

  /** Throws RangeError where nothing is kept. */
  async #decoded(record: string, step: number | undefined): Promise<Checkpoint> {
    const { bytes, at } = await this.#checkpoint(record, step)
    const found = await this.#host.checkpoints?.decode(bytes, `the checkpoint of step ${at}`)
    if (!found) throw new RangeError('No checkpoint is kept here.')
    return found
  }

  async #touch(command: TouchCommand): Promise<void> {
    const { post, touch } = this.#host
    const { record, steps, other = record } = command
    try {
      if (!touch) throw new RangeError('Nothing can be changed here.')
      const last = steps.length - 1
      const of = (i: number) => (i > 0 && i === last ? other : record)
      const states = steps.map((step, i) => () => this.#decoded(of(i), step))
      const touched = await touchInto(touch, states, command, (done, of) =>
        post({ type: 'touch_progress', record, done, of }),
      )
      post({ type: 'touched', record, touched })
    } catch (error) {
      post({ type: 'touch_failed', record, message: labError(error).message })
    }
  }

  async #look(command: LookCommand): Promise<void> {
    const { post } = this.#host
    const { record, step, begins } = command
    try {
      const state = begins ? beginningOf(begins) : keptState(await this.#decoded(record, step))
      post({ type: 'looked', record, ...(await lookInto(this.#host, state, command)) })
    } catch (error) {
      post({ type: 'look_failed', record, message: labError(error).message })
    }
  }

  /** A document that cannot be planned is refused when it is to be trained, with its reason. */
  #plan({ experiment, id }: PlanCommand): void {
    const { plan, post } = this.#host
    const parsed = parseExperiment(experiment)
    if (!plan || !parsed.ok) return
    try {
      post({ type: 'plan', ...(id !== undefined && { id }), ...plan(parsed.experiment) })
    } catch {
      // Such as a pattern of a reward that is still being typed.
    }
  }

  async #open(): Promise<void> {
    try {
      this.#host.post({ type: 'adapter', adapter: await this.#host.open() })
    } catch (error) {
      this.#host.post({ type: 'failed', run: undefined, error: labError(error) })
    }
  }

  /** An estimate is all that it is for: nobody waits for one that cannot be made. */
  async #measure(): Promise<void> {
    const speed = await this.#host.speed?.().catch(() => undefined)
    if (speed) this.#host.post({ type: 'speed', speed })
  }

  async #benchmark(): Promise<void> {
    const { post } = this.#host
    try {
      const numbers = await this.#host.benchmark((message) =>
        post({ type: 'benchmark_progress', message }),
      )
      post({ type: 'benchmark', numbers })
    } catch (error) {
      post({ type: 'benchmark_failed', error: labError(error) })
    }
  }
}
