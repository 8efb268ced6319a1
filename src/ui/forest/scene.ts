// Computes what the forest shows: how undecided every layer's policy is at one step, of the run on
// the page or of a recorded one.
import { resolvePhases } from '../../document/experiment/resolve.ts'
import { layersOf, type SharedLine } from '../../document/links/shared_result.ts'
import type { ShareState } from '../../page/state/share_store.ts'
import type { LabState } from '../../page/state/store.ts'
import { layerName, shortLayerName } from '../glossary/layer_names.ts'
import { formatEntropy } from '../kit/format.ts'
import { layerEntropy } from '../shown/metrics.ts'
import { plannedSteps } from '../shown/run.ts'
import { isImported } from '../shown/shown.ts'
import recorded from './recorded.json' with { type: 'json' }

export interface Scene {
  /** Nats, of the embedding and of layers 1…L; the last is the final policy. All NaN before a run
   * has measured them. */
  readonly entropy: readonly number[]
  /** The largest that a layer has had in the run: no light. 0 where none is measured. */
  readonly highest: number
  /** The layer that the phase trains; undefined while the model imitates. */
  readonly trained: number | undefined
  readonly step: number
  readonly steps: number
  /** It is of the recorded run, not of one on the page. */
  readonly isRecorded?: true
  /** It is of the run of a link's sender. */
  readonly isSent?: true
}

/** How much light a layer lets through: 0 where it is as undecided as ever, 1 where it is
 * certain. */
export const clearness = ({ entropy, highest }: Scene): readonly number[] =>
  entropy.map((nats) => (highest > 0 ? Math.min(1, Math.max(0, 1 - nats / highest)) : 0))

/** The light above each layer, from the canopy down: all of it above the final policy, and below
 * each layer what is left. Even a layer that is undecided lets a little through, so that the ground
 * is never black. */
export function lightAbove(scene: Scene): readonly number[] {
  let light = 1
  const above = clearness(scene).map(() => 0)
  for (let layer = above.length - 1; layer >= 0; layer--) {
    above[layer] = light
    light *= 0.12 + 0.88 * clearness(scene)[layer]
  }
  return above
}

const { phases, entropy } = recorded
const highest = Math.max(...entropy.flat())

export const RECORDED_STEPS = entropy.length
/** Where the recorded run was made, and when. */
export const RECORDED_ON = { adapter: recorded.adapter, date: recorded.date }

/** The recorded run at a step, 1…RECORDED_STEPS, as it was measured there. */
export function recordedScene(at: number): Scene {
  const step = Math.min(RECORDED_STEPS, Math.max(1, Math.floor(at)))
  let before = 0
  const phase = phases.find(({ steps }) => {
    before += steps
    return step <= before
  })
  return {
    entropy: entropy[step - 1],
    highest,
    trained: phase?.target_layer,
    step,
    steps: RECORDED_STEPS,
    isRecorded: true,
  }
}

/** What a link may have brought. */
type Sent = Pick<ShareState, 'result' | 'experiment'>

/** What a line was at a step, or at its first. */
function toldAt({ steps, values }: SharedLine, step: number): number {
  const after = steps.findIndex((at) => at > step)
  return values[Math.max(0, (after < 0 ? steps.length : after) - 1)]
}

/** The run of a link's sender at a step, 1 to its last; undefined where the link does not tell
 * every layer. Which layer was trained then is not known where phases were changed by hand. */
function sentScene({ result, experiment }: Sent, at: number): Scene | undefined {
  const lines = result && layersOf(result, experiment.model.num_hidden_layers)
  if (!lines) return undefined
  const step = Math.min(result.steps, Math.max(1, Math.floor(at)))
  let before = 0
  const phase = resolvePhases(experiment).find(({ steps }) => {
    before += steps
    return step <= before
  })
  const isKnown = experiment.steering.length === 0 && phase && 'target_layer' in phase
  return {
    entropy: lines.map((line) => toldAt(line, step)),
    highest: Math.max(...lines.flatMap(({ values }) => values).filter(Number.isFinite)),
    trained: isKnown ? phase.target_layer : undefined,
    step,
    steps: result.steps,
    isSent: true,
  }
}

/** What is played where the page has no run: the sender's, where a link brought it, else the
 * recorded one. `share`: 0 is its first step and 1 its last. */
export function playedScene(share: number, sent: Sent): Scene {
  const at = (steps: number) => 1 + Math.min(1, share) * (steps - 1)
  return sentScene(sent, at(sent.result?.steps ?? 1)) ?? recordedScene(at(RECORDED_STEPS))
}

/** The run of the page as it was at a step, or as it is; undefined before it has measured every
 * layer. */
export function runScene(state: LabState, atStep?: number): Scene | undefined {
  const { runExperiment, series, phase_switches, step } = state
  if (!runExperiment) return undefined
  const layers = runExperiment.model.num_hidden_layers
  const columns = Array.from({ length: layers + 1 }, (_, layer) => series.get(layerEntropy(layer)))
  const until = atStep ?? step
  const now = columns.map((column) => column?.values[column.after(until) - 1] ?? Number.NaN)
  if (!now.every(Number.isFinite)) return undefined
  const firsts = columns.map((column) => column?.values[0] ?? 0)
  const resolved = resolvePhases(runExperiment)
  const present = phase_switches.findLast((begun) => begun.step < until)
  const phase = present && resolved[present.phase]
  return {
    entropy: now,
    highest: Math.max(...firsts, ...now),
    trained: phase && 'target_layer' in phase ? phase.target_layer : undefined,
    step: until,
    steps: plannedSteps(state),
  }
}

/** The layers of a run that has not measured them, in the dark; undefined without a run. */
export function unmeasuredScene(state: LabState, atStep?: number): Scene | undefined {
  const { runExperiment, step } = state
  if (!runExperiment) return undefined
  return {
    entropy: Array.from({ length: runExperiment.model.num_hidden_layers + 1 }, () => Number.NaN),
    highest: 0,
    trained: undefined,
    step: atStep ?? step,
    steps: plannedSteps(state),
  }
}

export const isMeasured = ({ entropy }: Scene): boolean => entropy.every(Number.isFinite)

/** What is said of a run in place of its entropies. */
export const notMeasured = (): string =>
  isImported()
    ? 'The log has no entropy of every layer.'
    : 'This run has not measured its layers yet.'

type Name = (layer: number, last: number) => string

const labels = ({ entropy: nats }: Scene, name: Name, digits?: number): readonly string[] =>
  nats
    .map((value, layer) => `${name(layer, nats.length - 1)} ${formatEntropy(value, digits)}`)
    .reverse()

/** The names of the layers and their entropies, from the canopy down. */
export const sceneLabels = (scene: Scene): readonly string[] => labels(scene, layerName)

/** The same where all of them stand in one row of a phone. */
export const shortSceneLabels = (scene: Scene): readonly string[] =>
  labels(
    scene,
    (layer, last) =>
      layer > 0 && layer < last ? layerName(layer, last) : shortLayerName(layer, last),
    2,
  )

/** The same in a sentence, for people who do not see it. */
export const sceneWords = (scene: Scene): string =>
  isMeasured(scene) ? measuredWords(scene) : notMeasured()

const measuredWords = (scene: Scene): string =>
  `Step ${scene.step} of ${scene.steps}. Entropy in nats, from the canopy down: ${sceneLabels(scene).join(', ')}.` +
  (scene.trained === undefined || scene.step >= scene.steps
    ? ''
    : ` In training: ${layerName(scene.trained, scene.entropy.length - 1)}.`)
