// Makes up metrics of a phase of reinforcement, for tests of the findings.

import { parseExperiment } from '../../document/experiment/experiment.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { Series } from '../../host/columns/series.ts'
import { type DiagnosisName, diagnose } from './diagnosis.ts'

/** Steps of the warm start before the phase that is looked at. */
export const START = 10

export function experimentOf(document: object = {}, phase: object = {}): Experiment {
  const phases = [
    { kind: 'sft', steps: START },
    { kind: 'rl', steps: 500, ...phase },
  ]
  const parsed = parseExperiment({ phases, ...document })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return parsed.experiment
}

export const plain = experimentOf()
export const fill = (count: number, value: number) => new Array<number>(count).fill(value)

/** Columns with one value per step from the first of the phase, behind ten steps of a warm start
 * that say the opposite. */
function columns(metrics: Readonly<Record<string, readonly number[]>>): Map<string, Series> {
  const series = new Map<string, Series>()
  for (const [name, values] of Object.entries(metrics)) {
    const column = new Series()
    for (let step = 0; step <= START; step++) column.push(step, values[0] > 0.5 ? 0 : 1)
    values.forEach((value, i) => {
      column.push(START + 1 + i, value)
    })
    series.set(name, column)
  }
  return series
}

export type Made = Readonly<Record<string, readonly number[]>>
export const view = (metrics: Made, experiment = plain) => ({
  experiment,
  phase: 1,
  phaseStart: START,
  series: columns(metrics),
})
export const find = (metrics: Made, experiment?: Experiment) => diagnose(view(metrics, experiment))
export const named = (name: DiagnosisName, metrics: Made, experiment?: Experiment) =>
  find(metrics, experiment).find((finding) => finding.name === name)

/** A held-out accuracy at these steps of the phase. */
export function withValidation(
  metrics: Made,
  accuracy: readonly (readonly [number, number])[],
  experiment = plain,
) {
  const made = view(metrics, experiment)
  const column = new Series()
  for (const [step, value] of accuracy) column.push(START + step, value)
  made.series.set('val-core/sort_digits/acc/mean@1', column)
  return diagnose(made).find(({ name }) => name === 'held_out_gap')
}

export const INFORMATIVE = 'group/informative'
export const SCORE = 'critic/score/mean'
export const gae = experimentOf(
  { rollout: { train_batch_size: 64, n: 1 } },
  { adv_estimator: 'gae' },
)
export const fall = (to: number) => ({ [SCORE]: [...fill(20, 0.4), ...fill(3, to)] })
