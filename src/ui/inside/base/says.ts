// Says in a sentence what each figure shows of this run, from what was observed of it.
import type { Observation } from '../../../host/protocol/observation.ts'
import { stateName, theLayer } from '../../glossary/layer_names.ts'
import { formatNumber, formatShare, formatSigned } from '../../kit/format.ts'
import { isClearEntropy } from '../../kit/mean.ts'
import { mostChanged } from '../../plot/lines/course_says.ts'
import { tokensOf } from '../../plot/reads.ts'
import type { Columns } from '../../scales/columns.ts'
import { uiStore } from '../../shown/store.ts'
import type { PassCurve } from './history.ts'
import { layerChange, perplexity } from './history.ts'
import type { Seen } from './observed.ts'
import {
  CHANGE_NAMES,
  type Change,
  cosinePoints,
  deltaBands,
  policyEntropies,
  similarityPoints,
} from './points.ts'

/** "layer 2", "layers 1, 3 and 5". */
function layersText(layers: readonly number[]): string {
  const last = layers[layers.length - 1]
  return layers.length === 1
    ? `layer ${last}`
    : `layers ${layers.slice(0, -1).join(', ')} and ${last}`
}

/** The item whose value is largest; undefined where there is none. */
function largest<T>(items: readonly T[], of: (item: T) => number): T | undefined {
  return items.reduce<T | undefined>(
    (best, item) =>
      Number.isFinite(of(item)) && (best === undefined || of(item) > of(best)) ? item : best,
    undefined,
  )
}

/** A change that the digits do not show is none. */
function movedText(from: number, to: number): string {
  const [was, is] = [formatNumber(from), formatNumber(to)]
  if (was === is) return `stayed at ${is}`
  return `${to > from ? 'rose' : 'fell'} from ${was} to ${is}`
}

/** The same of what also moves a little without reason: a small change is said to be one. */
function clearlyMoved(from: number, to: number, isClear: boolean, unit = ''): string {
  const [was, is] = [formatNumber(from), formatNumber(to)]
  if (was !== is && !isClear) return `did not change clearly: ${was}${unit}, then ${is}${unit}`
  return `${movedText(from, to)}${unit}`
}

const entropyMoved = (from: number, to: number): string =>
  clearlyMoved(from, to, isClearEntropy(to - from), ' nats')

/** Of a cosine: less is not seen in a chart of 0 to 1. */
const HARDLY_COSINE = 0.02

/** Where the model makes up its mind; states are read through the final norm, as the model is. */
export function flowSays({ step, item }: Seen): string | undefined {
  const { mean, num_hidden_layers } = item
  const states = mean.ent_layer_norm
  if (!states) return undefined
  // The bare embedding was never made for that norm.
  const falls = Array.from({ length: num_hidden_layers - 1 }, (_, i) => ({
    layer: i + 2,
    by: states[i + 1] - states[i + 2],
  }))
  const most = largest(falls, ({ by }) => by)
  const end = `the model ends at ${formatNumber(states[num_hidden_layers])} nats`
  if (!most || most.by <= 0)
    return `At step ${step} no layer after the first lowers the entropy; ${end}.`
  const { layer } = most
  const [was, is] = [states[layer - 1], states[layer]].map((value) => formatNumber(value))
  if (was === is)
    return `At step ${step} no layer after the first changes the entropy much; ${end}.`
  return `At step ${step}, in normed states, layer ${layer} decides most: entropy falls from ${was} to ${is} nats there, and ${end}.`
}

/** Which layers raise the entropy at a step, by the threshold that also tells which layer comes
 * first, and the largest change of a part. */
export function deltaSays(
  { step, item: observation }: Seen,
  threshold = uiStore.getState().ffn_threshold,
): string | undefined {
  const layerOf = (change: Change) => deltaBands(observation, change)
  const raised = layerOf('feed-forward').filter(({ mean }) => mean > threshold)
  const parts = CHANGE_NAMES.filter((name) => name !== 'layer').flatMap((name) =>
    layerOf(name).map(({ layer, mean }) => ({ name, layer, mean })),
  )
  const most = largest(parts, ({ mean }) => Math.abs(mean))
  if (!most) return undefined
  const largestIs = `layer ${most.layer}’s ${most.name} changes the entropy most, ${formatSigned(most.mean)} nats from its own input to what it writes`
  if (raised.length === 0) return `At step ${step} ${largestIs}; no feed-forward raises it clearly.`
  return `At step ${step} the feed-forward raises the entropy in ${layersText(raised.map(({ layer }) => layer))}; ${largestIs}.`
}

/** Nearer to 0 less than 1 % of a write's squared length lies along the stream or against it: it
 * is as good as a new direction. */
const CLEAR_COSINE = 0.1

/** Which block goes most along the stream, and which most against it. */
export function cosineSays(observation: Observation): string | undefined {
  const { attention, feed_forward } = cosinePoints(observation)
  const writes = [
    ...attention.map(([layer, cosine]) => ({ who: `attention of layer ${layer}`, cosine })),
    ...feed_forward.map(([layer, cosine]) => ({ who: `feed-forward of layer ${layer}`, cosine })),
  ]
  const along = largest(writes, ({ cosine }) => cosine)
  const against = largest(writes, ({ cosine }) => -cosine)
  if (!along || !against) return undefined
  const adds =
    along.cosine >= CLEAR_COSINE
      ? `The ${along.who} adds most to what is there (cosine ${formatNumber(along.cosine)})`
      : along.cosine > 0
        ? `No block adds much to what is there (the ${along.who} most, cosine ${formatNumber(along.cosine)})`
        : 'No block adds to what is there'
  const takes =
    against.cosine <= -CLEAR_COSINE
      ? `the ${against.who} takes most away (${formatSigned(against.cosine)})`
      : against.cosine < 0
        ? `none takes much away (the ${against.who} most, ${formatSigned(against.cosine)})`
        : 'none takes anything away'
  return `${adds}; ${takes}.`
}

/** Those up to it that are of the same tokens. */
const between = (items: readonly Seen[], last: Seen): readonly Seen[] =>
  items.filter(({ step, item }) => step <= last.step && item.rows === last.item.rows)

/** How layer k and the model have moved since the first observation. */
export function targetSays(items: readonly Seen[], seen: Seen, k: number): string | undefined {
  const top = (observation: Observation) => similarityPoints(observation, k).at(-1)?.[1]
  const all = between(items, seen)
  const first = all.find(({ item }) => top(item) !== undefined)
  const [from, to] = [first && top(first.item), top(seen.item)]
  const change = layerChange(seen.item, k)
  const adds =
    change === undefined
      ? ''
      : ` Layer ${k} changes the entropy by ${formatSigned(change)} nats now.`
  if (!first || from === undefined || to === undefined) return undefined
  if (first.step === seen.step || k === seen.item.num_hidden_layers)
    return `At step ${seen.step} the cosine of ${stateName(k)} with the last layer is ${formatNumber(to)}.${adds}`
  const [was, is] = [perplexity(first.item), perplexity(seen.item)]
  const moved = clearlyMoved(from, to, Math.abs(to - from) >= HARDLY_COSINE)
  if (was === undefined || is === undefined)
    return `From step ${first.step} to ${seen.step} the cosine of ${stateName(k)} with the last layer ${moved}.${adds}`
  const whose = tokensOf(seen.item.rows) || 'these tokens'
  return `From step ${first.step} to ${seen.step} the cosine of ${stateName(k)} with the last layer ${moved}; the final policy’s perplexity on ${whose}, at temperature 1, ${clearlyMoved(was, is, isClearEntropy(Math.log(is / was)))}.${adds}`
}

/** Whose policy it is that a layer of so many holds. */
export function policyName(layer: number, last: number): string {
  return layer === last ? theLayer(layer, last) : `the policy of ${theLayer(layer, last)}`
}

/** The layer whose policy changed most since the first observation. */
export function heatSays(items: readonly Seen[], seen: Seen): string | undefined {
  const first = between(items, seen).find(({ item }) => policyEntropies(item.mean))
  const before = first && policyEntropies(first.item.mean)
  const now = policyEntropies(seen.item.mean)
  if (!first || !before || !now) return undefined
  if (first.step === seen.step)
    return `At step ${seen.step}, the first that was observed, the final policy is at ${formatNumber(now[now.length - 1])} nats.`
  return mostChanged(
    now.map((value, layer) => ({
      label: policyName(layer, now.length - 1),
      from: first.step,
      to: seen.step,
      first: before[layer],
      last: value,
    })),
  )
}

/** The way of the policies through the layers in one moment. */
export function momentSays({ step, item }: Seen): string | undefined {
  const entropies = policyEntropies(item.mean)
  if (!entropies) return undefined
  const last = entropies.length - 1
  const at = (layer: number) => `${theLayer(layer, last)} (${formatNumber(entropies[layer])} nats)`
  const falls = entropies.slice(1).map((value, i) => ({ to: i + 1, by: entropies[i] - value }))
  const most = largest(falls, ({ by }) => by)
  if (!most || most.by <= 0) return `At step ${step} no layer is surer than the one below it.`
  return `At step ${step}, the only one that was looked at, the entropy falls most from ${at(most.to - 1)} to ${at(most.to)}.`
}

/** The course of the final policy's entropy up to a step. */
export function entropySays(columns: Columns, until: number | undefined): string | undefined {
  const points = Array.from({ length: columns.length }, (_, i) => ({
    step: columns.steps[i],
    value: columns.values[i],
  })).filter(({ step, value }) => Number.isFinite(value) && (until === undefined || step <= until))
  const [first, last] = [points[0], points[points.length - 1]]
  const lowest = largest(points, ({ value }) => -value)
  if (!first || !lowest) return undefined
  if (first === last) return `At step ${first.step} it is ${formatNumber(first.value)} nats.`
  const low =
    lowest === last || lowest === first
      ? ''
      : `; it was lowest at step ${lowest.step}, ${formatNumber(lowest.value)} nats`
  return `From step ${first.step} to ${last.step} it ${entropyMoved(first.value, last.value)}${low}.`
}

/** What one try and many tries solve, and what they solved at first. */
export function passSays(curves: readonly PassCurve[]): string | undefined {
  const [first, last] = [curves.at(0), curves.at(-1)]
  if (!first || !last) return undefined
  const tries = (curve: PassCurve, k: number) => curve.points.find((point) => point.k === k)?.value
  const ks = last.points.map(({ k }) => k)
  const words = [...new Set([ks[0], ks[ks.length - 1]])].flatMap((k) => {
    const [was, is] = [tries(first, k), tries(last, k)]
    if (is === undefined) return []
    const atFirst =
      first === last || was === undefined ? '' : ` (${formatShare(was)} at step ${first.step})`
    return [
      `${k === 1 ? 'one try solves' : `one of ${k} tries solves`} ${formatShare(is)}${atFirst}`,
    ]
  })
  return words.length === 0 ? undefined : `At step ${last.step} ${words.join(', and ')}.`
}
