// Suggests the layer that an inner phase should train, from what a run has measured, and where that
// goes in an experiment.

import type { PhaseDocument } from '../../document/experiment/fields/phases.ts'
import { type Experiment, MAX_PHASES } from '../../document/experiment/schema/schema.ts'
import { phaseChoices, placedPhase } from '../../document/presets/phase_choices.ts'
import type { Series } from '../../host/columns/series.ts'
import type { Observation, ObservedRows } from '../../host/protocol/observation.ts'
import { type SuggestedLayer, suggestedLayer } from '../../rl/math/suggested_layer.ts'

/** ΔH_FFN of layers 1…L after a step, nats. */
export interface LayerChanges {
  readonly step: number
  readonly delta_h_ffn: readonly number[]
  /** Whose tokens it is a mean over, where the figures measured it and not the probe. */
  readonly rows?: ObservedRows | undefined
}

/** What the figures saw after a step. */
interface SeenStep {
  readonly step: number
  readonly item: Observation
}

export const ffnChange = (layer: number) => `layer/delta_h_ffn/${layer}`

/** The newest measurement of a run with `layers` layers, none after step `until`; undefined where
 * there is none. All layers are measured in the same steps. One with a number missing does not
 * count. */
export function measuredChanges(
  series: ReadonlyMap<string, Series>,
  layers: number,
  until: number = Number.POSITIVE_INFINITY,
): LayerChanges | undefined {
  const columns = Array.from({ length: layers }, (_, l) => series.get(ffnChange(l + 1)))
  const [first] = columns
  for (let i = (first?.after(until) ?? 0) - 1; first && i >= 0; i--) {
    const step = first.steps[i]
    // Long columns may have been thinned to other steps.
    const delta_h_ffn = columns.map((column) => {
      const row = column ? column.after(step) - 1 : -1
      return column && column.steps[row] === step ? column.values[row] : Number.NaN
    })
    if (delta_h_ffn.every(Number.isFinite)) return { step, delta_h_ffn }
  }
  return undefined
}

/** The newest measurement that the figures of the inside hold, none after step `until`; undefined
 * where there is none. */
function seenChanges(
  seen: readonly SeenStep[],
  layers: number,
  until: number = Number.POSITIVE_INFINITY,
): LayerChanges | undefined {
  const found = seen.findLast(
    ({ step, item: { mean } }) =>
      step <= until && mean.dH_ffn?.length === layers && mean.dH_ffn.every(Number.isFinite),
  )
  if (!found) return undefined
  return { step: found.step, delta_h_ffn: found.item.mean.dH_ffn ?? [], rows: found.item.rows }
}

/** What to look at: the weights that reinforcement begins with, as an inner phase finds them, where
 * that is known; else the newest. Both the probe's metrics and what the figures saw count; of one
 * step the metrics. `rlStart`: the steps before the first phase of reinforcement, once it has
 * begun. */
export function decidingChanges(
  series: ReadonlyMap<string, Series>,
  layers: number,
  rlStart: number | undefined,
  seen: readonly SeenStep[] = [],
): LayerChanges | undefined {
  const newest = (until?: number) => {
    const measured = measuredChanges(series, layers, until)
    const looked = seenChanges(seen, layers, until)
    return looked && looked.step > (measured?.step ?? -1) ? looked : measured
  }
  return newest(rlStart) ?? newest()
}

/** Whether a measurement is of what a first inner phase would find: of the weights that
 * reinforcement began with, or earlier ones. `rlStart` as above. */
export const isFromStart = ({ step }: LayerChanges, rlStart: number | undefined): boolean =>
  step <= (rlStart ?? Number.POSITIVE_INFINITY)

/** Of the kept states of a run the one to measure: the newest from before reinforcement began, else
 * the oldest after it. */
export function stateToMeasure(
  steps: readonly number[],
  rlStart: number | undefined,
): number | undefined {
  if (steps.length === 0) return undefined
  const before = steps.filter((step) => step <= (rlStart ?? Number.POSITIVE_INFINITY))
  return before.length > 0 ? Math.max(...before) : Math.min(...steps)
}

/** As the engine names it; undefined for a model of one layer, which has no inner one. */
export const layerFor = (
  { delta_h_ffn }: LayerChanges,
  threshold: number,
): SuggestedLayer | undefined =>
  delta_h_ffn.length < 2 ? undefined : suggestedLayer(delta_h_ffn, threshold)

/** Indices of the phases that train an inner layer. */
export const innerPhases = ({ phases }: Experiment): number[] =>
  phases.flatMap((phase, i) => (phase.kind === 'rl' && phase.target_layer !== 'final' ? [i] : []))

/** The phases with one more that trains `layer` (BuPO), before the first that trains the whole
 * model by reinforcement, or at the end; undefined where there is no room. `first` is the first
 * place that is free: phases before it have begun. */
export function withInnerPhase(
  experiment: Experiment,
  layer: number,
  first = 0,
): readonly PhaseDocument[] | undefined {
  const { phases } = experiment
  const choice = phaseChoices(experiment).find(({ id }) => id === 'bupo')
  if (!choice || phases.length >= MAX_PHASES) return undefined
  const whole = phases.findIndex(
    (phase, i) => i >= first && phase.kind === 'rl' && phase.target_layer === 'final',
  )
  const at = whole < 0 ? phases.length : whole
  const phase = placedPhase(choice, phases, at)
  if (phase.kind !== 'rl') return undefined
  return [...phases.slice(0, at), { ...phase, target_layer: layer }, ...phases.slice(at)]
}
