// Runs the worker that trains the runs of a study, beside whatever else the page trains: several at
// once on one device, a step of each in turn (host/worker/shared). A run continues from its newest
// checkpoint where the page was left while it trained.

import { adapterName } from '../../../document/links/names.ts'
import type { Arm } from '../../../document/study/arms.ts'
import type { PlannedRun } from '../../../document/study/queue.ts'
import { ResultLog, type RunResult } from '../../../document/study/results.ts'
import type { Study } from '../../../document/study/study.ts'
import { DEFAULT_SCHEDULE, newestFirst } from '../../../host/checkpoints/schedule.ts'
import { listCheckpoints, removeCheckpoints } from '../../../host/checkpoints/storage/browse.ts'
import type { LabEvent } from '../../../host/protocol/protocol.ts'
import { memorySize } from '../../../kernels/device/base/errors.ts'
import { SILENT_MS } from '../../connection/connection.ts'
import type { LabPort } from '../../connection/port.ts'
import { Rest } from './rest.ts'
import { filesOf, recordOf } from './run_states.ts'
import { StepPaces } from './step_paces.ts'
import { TurnClock } from './turn_clock.ts'

/** How a run ended. `problem`: it could not be trained at all, and the worker is of no more use. */
export type WorkerOutcome = { readonly result: RunResult } | { readonly problem: string }

/** How far a run is. `waits`: for memory that other runs have. */
export interface RunProgress {
  readonly step: number
  readonly waits: boolean
  /** What it is busy with before its first step. */
  readonly message?: string
}

/** The newest two states of each run stay. */
const CHECKPOINTS = { ...DEFAULT_SCHEDULE, budget_bytes: 1 }

const WATCH_MS = 1000

/** Milliseconds in which a step ends, and its state is kept, on a slow adapter. */
const PATIENCE_MS = 60_000

/** A run in progress. */
interface Living {
  /** Resolves when it is kept or over. */
  readonly rested: Promise<unknown>
  readonly rest: Rest
  hear(event: LabEvent): void
  fail(problem: string): void
}

/** Its device stays open and its kernels compiled from run to run. */
export class StudyWorker {
  readonly #port: LabPort
  readonly #clock = new TurnClock()
  readonly #paces = new StepPaces()
  readonly #living = new Map<number, Living>()
  /** Bytes that the arms take, and those that are allowed, by the number of the arm. */
  readonly #plans = new Map<number, { readonly bytes: number; readonly allowed_bytes: number }>()
  /** Hears that the GPU is open, or why it is not. */
  #onOpen: (problem?: string) => void = () => {}
  #adapter = ''
  /** The number of the newest run. */
  #newest = 0
  readonly #watch: ReturnType<typeof setInterval>
  #lookedAt = performance.now()
  /** It speaks every two seconds, once it is loaded. */
  #heardAt = Number.POSITIVE_INFINITY

  constructor(port: LabPort) {
    this.#port = port
    port.addEventListener('message', ({ data }) => this.#hear(data))
    port.addEventListener('error', ({ message = 'The worker could not be loaded.' }) =>
      this.#die(message),
    )
    this.#watch = setInterval(() => this.#look(), WATCH_MS)
  }

  /** A worker that was heard and is silent for long hangs; where the page was asleep as well, it
   * may still speak. */
  #look(): void {
    const now = performance.now()
    if (now - this.#lookedAt > 2 * WATCH_MS) this.#heardAt = Math.max(this.#heardAt, now)
    this.#lookedAt = now
    if (now - this.#heardAt >= SILENT_MS)
      this.#die(`The worker has not answered for ${SILENT_MS / 1000} seconds.`)
  }

  #die(message: string): void {
    this.#onOpen(message)
    for (const run of this.#living.values()) run.fail(message)
  }

  /** Opens the GPU. Resolves with why it cannot be opened, or which arms cannot run here: before
   * anything is trained. */
  async open(arms: readonly Arm[]): Promise<readonly string[]> {
    const problem = await new Promise<string | undefined>((resolve) => {
      this.#onOpen = resolve
      for (const [id, { experiment }] of arms.entries())
        this.#port.postMessage({ type: 'plan', id, experiment })
      this.#port.postMessage({ type: 'open' })
    })
    if (problem !== undefined) return [problem]
    const found = await Promise.all(arms.map((arm, id) => this.#problemOf(arm, id)))
    return found.flatMap((one) => one ?? [])
  }

  async #problemOf({ name, experiment }: Arm, id: number): Promise<string | undefined> {
    const { bytes, allowed_bytes } = this.#plans.get(id) ?? { bytes: 0, allowed_bytes: 0 }
    if (bytes > allowed_bytes)
      return `${name}: it would take ${memorySize(bytes)} of GPU memory, and a study takes no more than ${memorySize(allowed_bytes)}.`
    return filesOf(experiment).then(
      () => undefined,
      (error: Error) => `${name}: ${error.message}`,
    )
  }

  /** Trains a run from its first step, or from where it was left. `onProgress` hears how far it is.
   * Never rejects. */
  async train(
    run: PlannedRun,
    study: Study,
    onProgress: (progress: RunProgress) => void,
  ): Promise<WorkerOutcome> {
    const id = ++this.#newest
    let resolve: (outcome: WorkerOutcome) => void = () => {}
    const outcome = new Promise<WorkerOutcome>((end) => {
      resolve = end
    })
    const fail = (problem: string) => resolve({ problem })
    const act = this.#hearing(id, run, study, { resolve, onProgress })
    const rest = new Rest()
    const hear = (event: LabEvent) => {
      rest.hear(event)
      act(event)
    }
    this.#living.set(id, { hear, fail, rest, rested: Promise.race([rest.kept, outcome]) })
    this.#clock.start(id)
    void this.#start(id, run).catch((error: Error) => this.#living.get(id)?.fail(error.message))
    const ended = await outcome
    this.#living.delete(id)
    this.#paces.end(id)
    return ended
  }

  /** Has the runs rest after the step in flight. Resolves when their states are kept, and in any
   * case after a while. */
  async pause(): Promise<void> {
    const stepping = [...this.#living.values()].filter(({ rest }) => rest.hasStepped)
    if (stepping.length === 0) return
    this.#port.postMessage({ type: 'pause' })
    let timer: ReturnType<typeof setTimeout> | undefined
    const patience = new Promise((resolve) => {
      timer = setTimeout(resolve, PATIENCE_MS)
    })
    await Promise.race([Promise.all(stepping.map(({ rested }) => rested)), patience])
    clearTimeout(timer)
  }

  /** Ends the runs in progress, whose outcomes then never come, and frees the GPU. */
  end(): void {
    clearInterval(this.#watch)
    this.#living.clear()
    this.#port.terminate()
  }

  async #start(id: number, { experiment }: PlannedRun): Promise<void> {
    const record = recordOf(experiment)
    const [newest] = newestFirst(await listCheckpoints(record))
    const contents = await filesOf(experiment)
    this.#port.postMessage({
      type: 'start',
      run: id,
      record,
      paused: false,
      in_turn: true,
      experiment,
      contents,
      checkpoints: CHECKPOINTS,
      ...(newest && { from: { kind: 'resume', record, step: newest.step } }),
    })
  }

  #hear(event: LabEvent): void {
    this.#heardAt = performance.now()
    if (event.type === 'adapter') {
      this.#adapter = adapterName(event.adapter)
      this.#onOpen()
    } else if (event.type === 'plan' && event.id !== undefined) this.#plans.set(event.id, event)
    else if (event.type === 'failed' && event.run === undefined) this.#onOpen(event.error.message)
    else if (event.type === 'run_program') void this.#call(event)
    else if ('run' in event && event.run !== undefined) this.#living.get(event.run)?.hear(event)
  }

  /** Has a program of a person called in its sandbox. */
  async #call({ id, program, entry, calls }: Extract<LabEvent, { type: 'run_program' }>) {
    const { callOnPage } = await import('../../../host/sandbox/page_programs.ts')
    const said = await callOnPage(program, entry, calls).then(
      (answers) => ({ answers }),
      (error: Error) => ({ answers: [], failed: error.message }),
    )
    this.#port.postMessage({ type: 'program_answers', id, ...said })
  }

  /** What a run makes of its events. */
  #hearing(
    id: number,
    run: PlannedRun,
    study: Study,
    to: { resolve(outcome: WorkerOutcome): void; onProgress(progress: RunProgress): void },
  ): (event: LabEvent) => void {
    const log = new ResultLog(run.experiment, study)
    const steps = run.experiment.phases.reduce((sum, phase) => sum + phase.steps, 0)
    let beganAt = 0
    const ended = (status: RunResult['status'], problem?: string) => {
      const facts = { arm: run.arm.name, seed: run.seed, status, adapter: this.#adapter }
      // What a run that was continued took before is as long as what it took here, by the step.
      const seconds = (this.#clock.end(id) * steps) / Math.max(1, steps - beganAt)
      to.resolve({ result: log.result({ ...facts, seconds, ...(problem && { problem }) }) })
      if (status === 'failed') this.#port.postMessage({ type: 'stop', run: id })
    }
    /** From its first step: the same seed gives the same run. */
    const startOver = (problem: string) =>
      void removeCheckpoints([recordOf(run.experiment)]).then(() => to.resolve({ problem }))
    return (event) => {
      if (event.type === 'restored' && event.why !== 'resume') log.restore(event.step)
      else if (event.type === 'restored') {
        if (event.differs !== undefined) return startOver(event.differs)
        beganAt = event.step
        log.recall(event.history)
        to.onProgress({ step: event.step, waits: false })
      } else if (event.type === 'step') {
        log.step(event.step, event.phase, event.metrics)
        this.#paces.step(id, { adapter: this.#adapter, experiment: run.experiment }, event)
        to.onProgress({ step: event.step, waits: false })
      } else if (event.type === 'progress') {
        this.#paces.prepare(id)
        to.onProgress({ step: beganAt, waits: false, message: event.message })
      } else if (event.type === 'waits') {
        this.#paces.end(id)
        to.onProgress({ step: 0, waits: true })
      } else if (event.type === 'status' && event.status === 'finished') ended('finished')
      else if (event.type === 'status' && event.status === 'waiting')
        to.resolve({ problem: 'It waits for a person’s verdicts, and a study waits for nobody.' })
      else if (event.type === 'guarded') ended('failed', 'Its numbers broke.')
      else if (event.type === 'lost' && event.is_waiting) to.resolve({ problem: event.message })
      else if (event.type === 'failed' && event.error.code === 'checkpoint')
        startOver(event.error.message)
      else if (event.type === 'failed') to.resolve({ problem: event.error.message })
    }
  }
}
