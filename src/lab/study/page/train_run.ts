// One run of a study in a worker of its own, beside whatever else the page trains.
import type { LabPort } from '../../page/port.ts'
import type { LabEvent } from '../../protocol/protocol.ts'
import type { PlannedRun } from '../queue.ts'
import { ResultLog, type RunResult } from '../results.ts'
import type { Study } from '../study.ts'

/** How a run ended. `problem`: it could not be trained at all. */
export type WorkerOutcome = { readonly result: RunResult } | { readonly problem: string }

/** A run of a study while a worker trains it. */
export interface WorkerRun {
  readonly outcome: Promise<WorkerOutcome>
  /** Ends it and its worker; the outcome then never comes. */
  end(): void
}

/** Trains a run from its first step. `onStep` hears how far it is. */
export function trainInWorker(
  port: LabPort,
  run: PlannedRun,
  study: Study,
  onStep: (step: number) => void,
): WorkerRun {
  const began = performance.now()
  const log = new ResultLog(run.experiment, study)
  let adapter = ''
  const { promise: outcome, resolve } = Promise.withResolvers<WorkerOutcome>()
  const settle = (found: WorkerOutcome) => {
    port.terminate()
    resolve(found)
  }
  const ended = (status: RunResult['status'], problem?: string) =>
    settle({
      result: log.result({
        arm: run.arm.name,
        seed: run.seed,
        status,
        adapter,
        seconds: (performance.now() - began) / 1000,
        ...(problem !== undefined && { problem }),
      }),
    })
  const hear = (event: LabEvent) => {
    if (event.type === 'adapter') adapter = event.adapter.description
    else if (event.type === 'restored') log.restore(event.step)
    else if (event.type === 'step') {
      log.step(event.step, event.phase, event.metrics)
      onStep(event.step)
    } else if (event.type === 'status' && event.status === 'finished') ended('finished')
    else if (event.type === 'status' && event.status === 'waiting')
      settle({ problem: 'It waits for a person’s verdicts, and a study waits for nobody.' })
    else if (event.type === 'guarded') ended('failed', 'Its numbers broke.')
    else if (event.type === 'lost' && event.is_waiting) settle({ problem: event.message })
    else if (event.type === 'failed') settle({ problem: event.error.message })
  }
  port.addEventListener('message', ({ data }) => hear(data))
  port.addEventListener('error', ({ message = 'The worker could not be loaded.' }) =>
    settle({ problem: message }),
  )
  port.postMessage({ type: 'open' })
  port.postMessage({
    type: 'start',
    run: 1,
    record: crypto.randomUUID(),
    experiment: run.experiment,
    paused: false,
  })
  return { outcome, end: () => port.terminate() }
}
