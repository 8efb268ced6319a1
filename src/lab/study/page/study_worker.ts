// The worker that trains the runs of a study, one after the other, beside whatever else the page trains.
import type { LabPort } from '../../page/port.ts'
import type { LabEvent } from '../../protocol/protocol.ts'
import type { PlannedRun } from '../queue.ts'
import { ResultLog, type RunResult } from '../results.ts'
import type { Study } from '../study.ts'

/** How a run ended. `problem`: it could not be trained at all, and the worker is of no more use. */
type WorkerOutcome = { readonly result: RunResult } | { readonly problem: string }

/** Its device stays open and its kernels compiled from run to run. */
export class StudyWorker {
  readonly #port: LabPort
  #adapter = ''
  /** The number of the run in progress. */
  #run = 0
  #hear: (event: LabEvent) => void = () => {}
  #fail: (message: string) => void = () => {}

  constructor(port: LabPort) {
    this.#port = port
    port.addEventListener('message', ({ data }) => {
      if (data.type === 'adapter') this.#adapter = data.adapter.description
      // The end of an earlier run may still be on its way.
      else if (!('run' in data) || data.run === undefined || data.run === this.#run)
        this.#hear(data)
    })
    port.addEventListener('error', ({ message = 'The worker could not be loaded.' }) =>
      this.#fail(message),
    )
    port.postMessage({ type: 'open' })
  }

  /** Trains a run from its first step. `onStep` hears how far it is. Never rejects. */
  train(run: PlannedRun, study: Study, onStep: (step: number) => void): Promise<WorkerOutcome> {
    const began = performance.now()
    const log = new ResultLog(run.experiment, study)
    let resolve: (outcome: WorkerOutcome) => void = () => {}
    const outcome = new Promise<WorkerOutcome>((settle) => {
      resolve = settle
    })
    const ended = (status: RunResult['status'], problem?: string) => {
      const { name: arm } = run.arm
      const facts = { arm, seed: run.seed, status, adapter: this.#adapter }
      const seconds = (performance.now() - began) / 1000
      resolve({ result: log.result({ ...facts, seconds, ...(problem && { problem }) }) })
    }
    this.#run++
    this.#fail = (problem) => resolve({ problem })
    this.#hear = (event) => {
      if (event.type === 'restored') log.restore(event.step)
      else if (event.type === 'step') {
        log.step(event.step, event.phase, event.metrics)
        onStep(event.step)
      } else if (event.type === 'status' && event.status === 'finished') ended('finished')
      else if (event.type === 'status' && event.status === 'waiting')
        resolve({ problem: 'It waits for a person’s verdicts, and a study waits for nobody.' })
      else if (event.type === 'guarded') ended('failed', 'Its numbers broke.')
      else if (event.type === 'lost' && event.is_waiting) resolve({ problem: event.message })
      else if (event.type === 'failed') resolve({ problem: event.error.message })
    }
    this.#port.postMessage({
      ...{ type: 'start', run: this.#run, record: crypto.randomUUID(), paused: false },
      experiment: run.experiment,
    })
    return outcome
  }

  /** Ends the run in progress, whose outcome then never comes, and frees the GPU. */
  end(): void {
    this.#port.terminate()
  }
}
