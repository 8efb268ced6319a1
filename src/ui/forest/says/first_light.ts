// Says which layer the light reached first: whose policy became surer by most nats until the first
// phase of a run ended.
import type { LabState } from '../../../page/state/store.ts'
import { theLayer } from '../../glossary/layer_names.ts'
import { isClearEntropy } from '../../kit/mean.ts'
import { layerEntropy } from '../../shown/metrics.ts'

interface Fall {
  readonly layer: number
  readonly from: number
  readonly to: number
  /** The step of `to`. */
  readonly step: number
}

/** What an entropy was when it was measured first, and last in the first `end` steps. */
function fallOf({ series }: LabState, layer: number, end: number): Fall | undefined {
  const column = series.get(layerEntropy(layer))
  const measured = column?.after(end) ?? 0
  if (!column || measured < 2) return undefined
  const [from, to] = [column.values[0], column.values[measured - 1]]
  if (!Number.isFinite(from) || !Number.isFinite(to)) return undefined
  return { layer, from, to, step: column.steps[measured - 1] }
}

const nats = ({ from, to }: Fall): string => `from ${from.toFixed(2)} to ${to.toFixed(2)} nats`
const depth = ({ from, to }: Fall): number => from - to

/** 'The light reached layer 2 first: …', beside the final policy or what came next; undefined where
 * there was one phase, a layer was not measured, or none became surer. */
export function firstLight(state: LabState): string | undefined {
  const { runExperiment, phase_switches } = state
  const end = phase_switches[1]?.step
  if (!runExperiment || end === undefined) return undefined
  const layers = runExperiment.model.num_hidden_layers
  const falls = Array.from({ length: layers + 1 }, (_, layer) => fallOf(state, layer, end))
  const all = falls.flatMap((fall) => fall ?? [])
  if (all.length < falls.length) return undefined
  const [first, second] = all.toSorted((a, b) => depth(b) - depth(a))
  if (depth(first) <= 0 || !isClearEntropy(depth(first))) return undefined
  const other = first.layer === layers ? second : all[layers]
  const who = ({ layer }: Fall) => theLayer(layer, layers)
  if (depth(other) <= 0)
    return `The light reached ${who(first)} first: by step ${first.step} its entropy fell ${nats(first)}; that of ${who(other)} did not fall, it went ${nats(other)}.`
  // Steps differ by as much.
  return !isClearEntropy(depth(first) - depth(other))
    ? `The light reached ${who(first)} first: by step ${first.step} its entropy fell ${nats(first)}; that of ${who(other)} nearly as much, ${nats(other)}.`
    : `The light reached ${who(first)} first: by step ${first.step} its entropy fell ${nats(first)}; that of ${who(other)} only ${nats(other)}.`
}
