// Says what a run and its control came to, beside either of them.
import { sameSettings } from '../../document/experiment/experiment.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { asSettings } from '../../document/experiment/steered/as_settings.ts'
import { doneByHand } from '../../document/experiment/steering/steered_kernels.ts'
import type { RunEntry } from '../../page/runs/library/library_store.ts'
import { settledSettings } from '../../page/state/next_experiment.ts'
import type { LabState } from '../../page/state/store.ts'
import { formatShare } from '../kit/format.ts'
import { isClear, isClearEntropy } from '../kit/mean.ts'
import { greedyAccuracy, layerEntropy } from '../shown/metrics.ts'
import { controlOf, type Trained } from './control_run.ts'

/** A document without what makes no other run of it: its name, and the kernels of the adapter. */
const asTrained = (experiment: Experiment): Experiment => ({
  ...experiment,
  name: null,
  kernels: null,
  steering: [...doneByHand(experiment.steering)],
})

/** Whether two runs began alike, and the same was done to both after the same steps. */
function trainedAlike(a: Experiment, b: Experiment): boolean {
  const [own, other] = [asTrained(a), asTrained(b)]
  return sameSettings(own, other) && JSON.stringify(own.steering) === JSON.stringify(other.steering)
}

/** The newest finished run of which this one is the control, with the same seed. */
function runWithInner(control: Experiment, entries: readonly RunEntry[]): RunEntry | undefined {
  return entries.find(({ header }) => {
    if (header.status !== 'finished' || header.source) return false
    const own = controlOf(header)
    return own && trainedAlike(own.experiment, control)
  })
}

/** The newest finished control of a run, with the same seed. */
function runWithoutInner(run: Trained, entries: readonly RunEntry[]): RunEntry | undefined {
  const control = controlOf(run)
  if (!control) return undefined
  return entries.find(
    ({ header }) =>
      header.status === 'finished' &&
      !header.source &&
      trainedAlike(header.document, control.experiment),
  )
}

/** A run and the one that tells what its inner phase did. */
interface Pair<T> {
  readonly withInner: T
  readonly without: T
}

/** The shown run, as undefined, and the kept one that it is compared with; undefined where this run
 * is no control of a kept one, and has none. */
function pairOf(
  state: LabState,
  entries: readonly RunEntry[],
): Pair<RunEntry | undefined> | undefined {
  const { runDocument, runExperiment } = state
  if (!runDocument || !runExperiment) return undefined
  const withInner = runWithInner(runDocument, entries)
  if (withInner) return { withInner, without: undefined }
  const run = { document: runDocument, experiment: settledSettings(runExperiment, state) }
  const without = runWithoutInner(run, entries)
  return without && { withInner: undefined, without }
}

/** The settings of both, as they would be trained again; undefined where there are not both. */
export function settingsOfBoth(
  state: LabState,
  entries: readonly RunEntry[],
): readonly [withInner: Experiment, without: Experiment] | undefined {
  const { runDocument } = state
  const pair = runDocument && pairOf(state, entries)
  if (!pair) return undefined
  const settings = (entry: RunEntry | undefined) =>
    asSettings(entry ? entry.header.document : runDocument)
  return [settings(pair.withInner), settings(pair.without)]
}

/** What both solve of the same held-out problems, and whether those tell a difference; undefined
 * where this run is no control of a kept one, and has none. */
export function controlSays(state: LabState, entries: readonly RunEntry[]): string | undefined {
  const { runExperiment, series } = state
  const pair = pairOf(state, entries)
  if (!runExperiment || !pair) return undefined
  const metric = greedyAccuracy(runExperiment.task.id)
  const columns = series.get(metric)
  const own = columns?.values[columns.length - 1]
  const solved = (entry: RunEntry | undefined) => (entry ? entry.header.metrics[metric] : own)
  const [withInner, without] = [solved(pair.withInner), solved(pair.without)]
  if (without === undefined || withInner === undefined) return undefined
  const { prompts } = runExperiment.validation
  const shares = `With the inner phase it solved ${formatShare(withInner)} of new problems, without it ${formatShare(without)}`
  const tells = !isClear([withInner, without], prompts)
    ? `${prompts} problems tell no difference`
    : without > withInner
      ? 'here the inner phase cost something'
      : 'here the inner phase helped'
  return `${shares}: ${tells}. That is one seed of each.`
}

/** What the layer that the inner phase trained came to in both; undefined where they end alike. */
export function insideSays(state: LabState, entries: readonly RunEntry[]): string | undefined {
  const { runDocument, series } = state
  const pair = pairOf(state, entries)
  if (!runDocument || !pair) return undefined
  const { phases } = pair.withInner?.header.document ?? runDocument
  const targets = phases.flatMap((phase) => ('target_layer' in phase ? phase.target_layer : []))
  const [layer] = targets
  if (layer === undefined || layer === 'final') return undefined
  const metric = layerEntropy(layer)
  const column = series.get(metric)
  const own = column?.values[column.length - 1]
  const end = (entry: RunEntry | undefined) => (entry ? entry.header.metrics[metric] : own)
  const [withInner, without] = [end(pair.withInner), end(pair.without)]
  if (withInner === undefined || without === undefined) return undefined
  if (!isClearEntropy(withInner - without)) return undefined
  return `Inside they differ: layer ${layer} ends at ${withInner.toFixed(2)} nats with the inner phase, ${without.toFixed(2)} without.`
}
