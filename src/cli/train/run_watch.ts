// Looks for problems in the metrics of a run while it trains.

import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { Series } from '../../host/columns/series.ts'
import {
  DiagnosisRecord,
  diagnose,
  type RecordedDiagnosis,
} from '../../record/diagnosis/diagnosis.ts'

export class RunWatch {
  readonly #experiment: Experiment
  readonly #leftOut: number
  readonly #record = new DiagnosisRecord()
  #phase = -1
  #phaseStart = 0

  /** `leftOut`: phases at the beginning of the document that the run does not train. */
  constructor(experiment: Experiment, leftOut = 0) {
    this.#experiment = experiment
    this.#leftOut = leftOut
  }

  /** One step after the other; `phase` counts the phases of `followed`, the experiment as the run
   * follows it by now. `series`: all metrics up to that step. */
  step(
    step: number,
    phase: number,
    series: ReadonlyMap<string, Series>,
    followed: Experiment,
  ): void {
    if (phase !== this.#phase) this.#phaseStart = Math.max(0, step - 1)
    this.#phase = phase
    const view = {
      // A run that leaves phases out is not steered.
      experiment: this.#leftOut > 0 ? this.#experiment : followed,
      phase: phase + this.#leftOut,
      phaseStart: this.#phaseStart,
      series,
    }
    this.#record.add(diagnose(view))
  }

  /** Every diagnosis of the run so far, at its worst, first ones first. */
  get found(): RecordedDiagnosis[] {
    return this.#record.all()
  }
}

/** Findings as the end of a run prints them; no lines for none. */
export const findingLines = (found: readonly RecordedDiagnosis[]): string[] =>
  found.flatMap(({ title, evidence, advice, first_step, phase, is_severe }) => [
    `${is_severe ? 'Severe: ' : ''}${title} (phase ${phase + 1}, from step ${first_step})`,
    `  ${evidence}`,
    ...advice.map(({ path, text }) => `  ${path}: ${text}`),
  ])
