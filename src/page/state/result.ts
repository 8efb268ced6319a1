// Makes the result of a run as a link tells it: a few of its curves.

import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { adapterName } from '../../document/links/names.ts'
import {
  GREEDY_ACCURACY,
  MAIN_MEASURE,
  metricOf,
  type SharedResult,
} from '../../document/links/shared_result.ts'
import {
  FEW_POINTS,
  MAX_POINTS,
  shortName,
  TOLD_METRICS,
  thinned,
} from '../../document/links/summary.ts'
import { nextExperiment } from './next_experiment.ts'
import type { LabState } from './store.ts'

/** Layers below the last whose entropies are told. */
const SHARED_LAYERS = 6

/** Up to SHARED_LAYERS of the layers 0 … L-1, evenly spread. */
function layersBelow(last: number): number[] {
  const count = Math.min(SHARED_LAYERS, last)
  return Array.from({ length: count }, (_, i) =>
    count === 1 ? 0 : Math.round((i * (last - 1)) / (count - 1)),
  )
}

/** The name of what a run was trained on; undefined of a past run, whose record has it. */
export const adapterOf = ({ adapter }: LabState): string | undefined =>
  adapter && adapterName(adapter)

/** The result of a run as a link can tell it; undefined before its first step. `mainMetric` says
 * which metric an experiment's page tells a run by. */
export function resultOf(
  state: LabState,
  mainMetric: (of: Experiment) => string,
  adapter = adapterOf(state),
): SharedResult | undefined {
  const { runExperiment, series, step } = state
  if (!runExperiment || adapter === undefined || step === 0) return undefined
  const last = runExperiment.model.num_hidden_layers
  const wanted = [
    ...[...TOLD_METRICS, `layer/entropy/${last}`].map((name) => [name, MAX_POINTS] as const),
    ...layersBelow(last).map((layer) => [`layer/entropy/${layer}`, FEW_POINTS] as const),
  ]
  // The task's own score says the same as the reward where no reward model is trained on.
  const isRewarded = runExperiment.phases.some(({ kind }) => kind === 'reward_model')
  const { id } = runExperiment.task
  const main = mainMetric(runExperiment)
  // Told once, by the name that all links have for it.
  const isAccuracy = main === metricOf(GREEDY_ACCURACY, id, main)
  const lines = wanted
    .filter(([name]) => isRewarded || name !== 'task/score/mean')
    .filter(([name]) => !isAccuracy || name !== MAIN_MEASURE)
    .flatMap(([name, most]) => {
      const columns = series.get(metricOf(name, id, main))
      if (!columns || columns.length === 0) return []
      return { name, ...thinned(columns, most) }
    })
    .filter(({ values }) => values.some(Number.isFinite))
  return lines.length === 0 ? undefined : { adapter: shortName(adapter), steps: step, lines }
}

/** As the page is whose settings are those of its run. */
export const asOfRun = (state: LabState): LabState =>
  state.runExperiment ? { ...state, experiment: state.runExperiment } : state

/** Whether the run's curves are of the experiment that a link would open: its settings may have
 * been changed since. */
export const isOfLink = (state: LabState): boolean =>
  state.runDocument !== undefined && nextExperiment(state) === state.runDocument
