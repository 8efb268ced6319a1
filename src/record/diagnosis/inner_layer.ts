// Suggests the layer that an inner phase should train, from what a run has measured, and where that
// goes in an experiment.

import type { PhaseDocument } from '../../document/experiment/fields/phases.ts'
import { type Experiment, MAX_PHASES } from '../../document/experiment/schema/schema.ts'
import { innerPhase, rewarded } from '../../document/presets/phase_choices.ts'
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

/** All measurements of a run with `layers` layers by its probe, in order. All layers are measured
 * in the same steps. One with a number missing does not count. */
export function measuredChanges(
  series: ReadonlyMap<string, Series>,
  layers: number,
): readonly LayerChanges[] {
  const columns = Array.from({ length: layers }, (_, l) => series.get(ffnChange(l + 1)))
  const [first] = columns
  return Array.from({ length: first?.length ?? 0 }, (_, i) => first?.steps[i] ?? 0).flatMap(
    (step) => {
      // Long columns may have been thinned to other steps.
      const delta_h_ffn = columns.map((column) => {
        const row = column ? column.after(step) - 1 : -1
        return column && column.steps[row] === step ? column.values[row] : Number.NaN
      })
      return delta_h_ffn.every(Number.isFinite) ? [{ step, delta_h_ffn }] : []
    },
  )
}

/** All measurements that the figures of the inside hold, in order. */
const seenChanges = (seen: readonly SeenStep[], layers: number): readonly LayerChanges[] =>
  seen.flatMap(({ step, item: { mean, rows } }) =>
    mean.dH_ffn?.length === layers && mean.dH_ffn.every(Number.isFinite)
      ? [{ step, delta_h_ffn: mean.dH_ffn, rows }]
      : [],
  )

/** Both the probe's metrics and what the figures saw; of one step the metrics. */
function allChanges(
  series: ReadonlyMap<string, Series>,
  layers: number,
  seen: readonly SeenStep[],
): readonly LayerChanges[] {
  const measured = measuredChanges(series, layers)
  const steps = new Set(measured.map(({ step }) => step))
  const looked = seenChanges(seen, layers).filter(({ step }) => !steps.has(step))
  return [...measured, ...looked].toSorted((a, b) => a.step - b.step)
}

/** What to look at: the weights that reinforcement begins with, as an inner phase finds them; where
 * those were not measured, the ones soonest after it, whatever is measured later. `rlStart`: the
 * steps before the first phase of reinforcement, once it has begun; until then the newest. */
export function decidingChanges(
  series: ReadonlyMap<string, Series>,
  layers: number,
  rlStart: number | undefined,
  seen: readonly SeenStep[] = [],
): LayerChanges | undefined {
  const all = allChanges(series, layers, seen)
  return all.findLast((changes) => isFromStart(changes, rlStart)) ?? all[0]
}

/** The newest measurement of states later than the one that decides; undefined where there is
 * none. */
export function laterChanges(
  series: ReadonlyMap<string, Series>,
  layers: number,
  deciding: LayerChanges,
  seen: readonly SeenStep[],
): LayerChanges | undefined {
  const newest = allChanges(series, layers, seen).at(-1)
  return newest && newest.step > deciding.step ? newest : undefined
}

/** Whether a measurement is of what a first inner phase would find: of the weights that
 * reinforcement began with, or earlier ones. `rlStart` as above. */
export const isFromStart = ({ step }: LayerChanges, rlStart: number | undefined): boolean =>
  step <= (rlStart ?? Number.POSITIVE_INFINITY)

/** The state of a run to measure: the newest kept from before reinforcement began, else the
 * beginning, where the run began with reinforcement and can be made anew, else the oldest after
 * it. */
export function stateToMeasure(
  steps: readonly number[],
  rlStart: number | undefined,
  canBegin = false,
): number | 'beginning' | undefined {
  const before = steps.filter((step) => step <= (rlStart ?? Number.POSITIVE_INFINITY))
  if (before.length > 0) return Math.max(...before)
  if (canBegin && rlStart === 0) return 'beginning'
  return steps.length === 0 ? undefined : Math.min(...steps)
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
  if (phases.length >= MAX_PHASES || experiment.model.num_hidden_layers < 2) return undefined
  const whole = phases.findIndex(
    (phase, i) => i >= first && phase.kind === 'rl' && phase.target_layer === 'final',
  )
  const at = whole < 0 ? phases.length : whole
  const phase = rewarded(innerPhase(experiment, layer, at), phases, at)
  return [...phases.slice(0, at), phase, ...phases.slice(at)]
}
