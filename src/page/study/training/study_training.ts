// Trains the missing runs of a study until none is missing: so many at once, in their order, so
// that an early look compares like with like.

import type { Arm } from '../../../document/study/arms.ts'
import { fingerprintOf } from '../../../document/study/fingerprint.ts'
import type { PlannedRun } from '../../../document/study/queue.ts'
import type { RunResult } from '../../../document/study/results.ts'
import type { Study } from '../../../document/study/study.ts'
import type { LabPort } from '../../connection/port.ts'
import { type RunProgress, StudyWorker, type WorkerOutcome } from './study_worker.ts'

/** A run in progress. */
export interface PresentRun extends RunProgress {
  readonly name: string
  /** Steps in all. */
  readonly of: number
}

/** What a training needs of the study around it. */
export interface TrainingOf {
  readonly study: Study
  readonly arms: readonly Arm[]
  createPort(): LabPort
  /** The runs that have no result yet, in the order of training. */
  missing(): readonly PlannedRun[]
  /** Runs that are trained at once, at most. */
  at_once(): number
  keep(result: RunResult): Promise<void>
  onPresent(present: readonly PresentRun[]): void
}

/** Tries in a row that bring no result, as when the device is lost again and again. */
const TRIES = 2

interface Ended {
  readonly id: string
  readonly name: string
  readonly outcome: WorkerOutcome
}

const COMMAND_LINE =
  'It measures the states of its runs (inside) or begins with those of others (continues), which takes the command line: npm run -s lab -- study FILE --out DIR'

/** What a run in progress is called. */
export const nameOf = ({ arm, seed }: Pick<PlannedRun, 'arm' | 'seed'>): string =>
  `${arm.name}, seed ${seed}`

/** Its steps in all. */
export const stepsOfRun = ({ experiment }: Pick<PlannedRun, 'experiment'>): number =>
  experiment.phases.reduce((sum, { steps }) => sum + steps, 0)

export class StudyTraining {
  readonly #of: TrainingOf
  readonly #present = new Map<string, PresentRun>()
  readonly #steps = new Map<string, number>()
  #worker: StudyWorker | undefined
  #isOver = false

  constructor(of: TrainingOf) {
    this.#of = of
  }

  /** Ends the runs in progress, once their states are kept; `train` then never resolves. */
  async end(): Promise<void> {
    this.#isOver = true
    await this.#worker?.pause()
    this.#worker?.end()
  }

  /** The steps that the runs in progress have done, by their fingerprints. */
  get steps(): ReadonlyMap<string, number> {
    return this.#steps
  }

  /** Resolves when no run is missing, or with the reasons why one cannot be trained; never once it
   * was ended. */
  async train(): Promise<readonly string[]> {
    const { inside, continues } = this.#of.study
    if (inside || continues !== undefined) return [COMMAND_LINE]
    let running = new Map<string, Promise<Ended>>()
    for (let tries = 0; ; ) {
      const next = this.#next(running)
      if (running.size + next.size === 0) break
      const worker = this.#worker ?? new StudyWorker(this.#of.createPort())
      if (!this.#worker) {
        this.#worker = worker
        const problems = await worker.open(this.#of.arms)
        if (this.#isOver) return new Promise(() => {})
        if (problems.length > 0) {
          this.#endWorker()
          return problems
        }
      }
      for (const [id, run] of next) running.set(id, this.#run(run, worker))
      const { id, name, outcome } = await Promise.race(running.values())
      if (this.#isOver) return new Promise(() => {})
      running.delete(id)
      this.#tell(name, undefined)
      if ('result' in outcome) {
        tries = 0
        await this.#of.keep(outcome.result)
        continue
      }
      // The others continue with it in another worker.
      this.#endWorker()
      running = new Map()
      if (++tries >= TRIES) return [`${name}: ${outcome.problem}`]
    }
    this.#endWorker()
    return []
  }

  /** By their fingerprints. */
  #next(running: ReadonlyMap<string, unknown>): ReadonlyMap<string, PlannedRun> {
    const room = this.#of.at_once() - running.size
    const next = new Map<string, PlannedRun>()
    for (const run of this.#of.missing()) {
      const id = fingerprintOf(run.experiment)
      if (next.size < room && !running.has(id)) next.set(id, run)
    }
    return next
  }

  async #run(run: PlannedRun, worker: StudyWorker): Promise<Ended> {
    const name = nameOf(run)
    const of = stepsOfRun(run)
    const id = fingerprintOf(run.experiment)
    const onProgress = (progress: RunProgress) => {
      if (progress.step > 0) this.#steps.set(id, progress.step)
      this.#tell(name, { name, of, ...progress })
    }
    onProgress({ step: 0, waits: false })
    const outcome = await worker.train(run, this.#of.study, onProgress)
    return { id, name, outcome }
  }

  #tell(name: string, present: PresentRun | undefined): void {
    if (present) this.#present.set(name, present)
    else this.#present.delete(name)
    if (!this.#isOver) this.#of.onPresent([...this.#present.values()])
  }

  #endWorker(): void {
    this.#worker?.end()
    this.#worker = undefined
    this.#present.clear()
  }
}
