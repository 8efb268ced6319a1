// Declares what a token's colour can say.
import { noiseOf } from '../../../document/formulas/advantage_noise.ts'
import type { TokenTable, TracedSample } from '../../../host/protocol/results.ts'
import { formatNumber } from '../../kit/format.ts'
import { type Scale, shadeOf } from '../../scales/shades.ts'
import { COLUMNS, type ColumnName, cellValue, isFilled, shownColumns } from './columns.ts'

export const MODES = {
  advantages: {
    label: 'advantage',
    help: 'How much better (orange) or worse (blue) than expected the token turned out.',
  },
  log_probs: {
    label: 'log-prob',
    help: 'As the last update that saw the response found it, before it changed anything. Bright is likely, dark a surprise.',
  },
  old_log_probs: {
    label: 'old log-prob',
    help: 'Before this step’s updates. Bright is likely, dark a surprise.',
  },
  ratio: {
    label: 'ratio',
    help: 'exp(log π − log π_old): orange grew likelier within the step, blue less likely. The scale is logarithmic.',
  },
  kl_ref: {
    label: 'KL to the reference',
    help: 'The estimate of this phase, at this token.',
  },
  moved: {
    label: 'log-ratio of the step',
    help: 'Log-prob after all updates of the step minus before: what the step did to the token.',
  },
  entropy: {
    label: 'entropy',
    help: 'Of the policy that this phase trains, where it wrote the token, as the last update that saw the response found it. Bright is certain.',
  },
  layer_entropy: {
    label: 'entropy of a layer',
    help: 'Of the policy read out of one layer where the token was written. Bright is certain.',
  },
  clipped: {
    label: 'clip',
    help: 'Whether the clip of the loss is active at the token.',
  },
  chosen: {
    label: 'chosen by covariance',
    help: 'The tokens that clip_cov gives no loss, or kl_cov a penalty: where advantage and log-prob vary together most.',
  },
} as const
export type Mode = keyof typeof MODES

/** How a layer's state is read: as it is, or through the final norm. */
export type LayerReadout = 'raw' | 'normed'

/** What one layer's policy is where a response was written. */
export interface LayerEntropy {
  readonly layer: number
  readonly readout: LayerReadout
  /** Nats at token t; undefined where nobody looked. */
  at(sample: TracedSample, t: number, layer?: number): number | undefined
  /** The policy is that after this step. */
  stepOf(sample: TracedSample): number | undefined
}

/** Nats of a layer at token t, as the traced step brought them along; undefined where it brought
 * none. The last layer is the final policy, through the final norm, in every readout. */
export function tracedEntropy(
  { layer_entropy, tokens }: TracedSample,
  readout: LayerReadout,
  layer: number,
  t: number,
): number | undefined {
  if (!layer_entropy || t >= tokens.length) return undefined
  const states = layer_entropy.raw.length / tokens.length
  const values = layer_entropy[layer === states - 1 ? 'normed' : readout]
  return layer < states ? values[t * states + layer] : undefined
}

/** Whether some of these have no entropies of their layers: nobody looked at them. */
export const isInPart = (
  samples: readonly TracedSample[],
  layerEntropy: LayerEntropy | undefined,
): boolean =>
  layerEntropy !== undefined &&
  samples.some((sample) => sample.tokens.length > 0 && layerEntropy.at(sample, 0) === undefined)

/** The number that colours a token; undefined where there is none. */
export function modeValue(
  mode: Mode,
  sample: TracedSample,
  t: number,
  layerEntropy?: LayerEntropy,
): number | undefined {
  if (mode === 'layer_entropy') return layerEntropy?.at(sample, t)
  for (const name of columnsOf(mode)) {
    const value = cellValue(sample, name, t)
    if (value !== undefined) return value
  }
  return undefined
}

/** The columns that a colour is taken from, the first that has a number. */
const columnsOf = (mode: Mode): readonly ColumnName[] =>
  mode === 'layer_entropy' ? [] : mode === 'kl_ref' ? ['kld', 'reward_kl'] : [mode]

/** Where the number that colours a response’s tokens stands in the seven stages: the stage that
 * computes it, and its column of the table. What no stage computes is sought from the first on. */
export function stageOf(
  mode: Mode,
  sample: TracedSample,
): { readonly stage: number; readonly column: number } {
  const names = columnsOf(mode)
  const filled = shownColumns(sample).filter((column) => isFilled(sample, column))
  const at = names.map((name) => filled.findIndex((column) => column.name === name))
  const column = at.find((place) => place >= 0)
  const of = column === undefined ? COLUMNS.find(({ name }) => name === names[0]) : filled[column]
  return { stage: of?.stage ?? 0, column: column ?? 0 }
}

/** What a mode's colours reach over, the same for every token of a step. */
export interface Range {
  readonly scale: Scale | 'clip'
  /** seq: from 0 to this. div: from minus to plus this, about 0. Of what `position` returns. */
  readonly end: number
  /** Whether values lie beyond the ends, where the scale leaves some out. */
  readonly beyond?: { readonly low: boolean; readonly high: boolean }
  /** Of advantages: no response was better than another. */
  readonly isAlike?: boolean
}

/** What a range reaches to whatever the tokens say. */
export interface Reach {
  /** ln V, of the entropies. */
  readonly max_entropy: number
  /** Of the ratios: `clipReach`. */
  readonly clip?: number
}

/** How far the clip of a phase lets a ratio go, as a logarithm. A bound of 1 or more holds back no
 * ordinary ratio. */
export function clipReach(
  actor: Pick<TokenTable['phase']['actor'], 'clip_ratio_low' | 'clip_ratio_high'> | undefined,
): number {
  const [low, high] = [actor?.clip_ratio_low ?? 0, actor?.clip_ratio_high ?? 0]
  return Math.max(low < 1 ? -Math.log(1 - low) : 0, high < 1 ? Math.log(1 + high) : 0)
}

/** Where a value lies on its mode's axis: surprises count upwards, ratios by their logarithm. */
function position(mode: Mode, value: number): number {
  if (mode === 'log_probs' || mode === 'old_log_probs') return -value
  return mode === 'ratio' ? Math.log(value) : value
}

const DIVERGING: readonly Mode[] = ['advantages', 'ratio', 'moved']
const ENTROPIES: readonly Mode[] = ['entropy', 'layer_entropy']

/** A single token can lie so far out here that on its scale all others look alike. */
const LONG_TAILED: readonly Mode[] = ['ratio', 'moved', 'kl_ref']
/** Tokens that lie within such a scale, of those that are not in its middle. */
const WITHIN = 0.98

/** How far most of these lie from the middle. */
function usualReach(positions: readonly number[]): number {
  const sizes = positions.flatMap((at) => Math.abs(at) || []).sort((a, b) => a - b)
  return sizes[Math.ceil(WITHIN * sizes.length) - 1] ?? 0
}

/** Over all tokens of a step. undefined where no token has a number. */
export function rangeOf(
  mode: Mode,
  samples: readonly TracedSample[],
  { max_entropy, clip = 0 }: Reach,
  layerEntropy?: LayerEntropy,
): Range | undefined {
  let [count, low, high] = [0, 0, 0]
  const positions: number[] = []
  for (const sample of samples)
    for (let t = 0; t < sample.tokens.length; t++) {
      const value = modeValue(mode, sample, t, layerEntropy)
      if (value === undefined) continue
      count++
      const at = position(mode, value)
      if (!Number.isFinite(at)) continue
      low = Math.min(low, at)
      high = Math.max(high, at)
      positions.push(at)
    }
  if (count === 0) return undefined
  if (mode === 'clipped' || mode === 'chosen') return { scale: 'clip', end: 2 }
  if (ENTROPIES.includes(mode)) return { scale: 'seq', end: max_entropy }
  // An estimate of a KL can be negative.
  const isDiverging = DIVERGING.includes(mode) || (mode === 'kl_ref' && low < 0)
  const scale = isDiverging ? 'div' : 'seq'
  const whole = Math.max(high, -low)
  if (mode === 'advantages' && noiseOf(samples).isAlike) return { scale, end: 0, isAlike: true }
  if (whole === 0 || !LONG_TAILED.includes(mode)) return { scale, end: whole }
  const end = Math.max(usualReach(positions), mode === 'ratio' ? clip : 0)
  return { scale, end, beyond: { low: low < -end, high: high > end } }
}

/** Neutral, orange, blue. */
const CLIP_CLASSES = ['div-5', 'div-10', 'div-0'] as const

/** The CSS class of a token; '' where there is no number. */
export function shadeClass(
  mode: Mode,
  value: number | undefined,
  range: Range | undefined,
): string {
  if (value === undefined || !range) return ''
  if (range.scale === 'clip') return CLIP_CLASSES[value] ?? ''
  const at = range.end === 0 ? 0 : position(mode, value) / range.end
  const shade = shadeOf(range.scale === 'div' ? (at + 1) / 2 : at)
  return shade === undefined ? '' : `${range.scale}-${shade}`
}

export interface Legend {
  /** Classes, in order. */
  readonly swatches: readonly string[]
  /** At the left end, in the middle where there is one, and at the right end. */
  readonly texts: readonly string[]
}

/** The classes of a scale, from its left end to its right. */
export const swatches = (scale: Scale) => Array.from({ length: 11 }, (_, i) => `${scale}-${i}`)

/** The numbers of a range's ends. */
export function legendOf(mode: Mode, { scale, end, beyond, isAlike }: Range): Legend {
  const least = beyond?.low ? '≤ ' : ''
  const most = beyond?.high ? '≥ ' : ''
  if (mode === 'chosen')
    return { swatches: CLIP_CLASSES.slice(0, 2), texts: ['not chosen', 'chosen'] }
  if (scale === 'clip')
    return { swatches: CLIP_CLASSES, texts: ['not clipped', 'clipped', 'held on bad responses'] }
  if (mode === 'ratio') {
    const [from, middle, to] = [Math.exp(-end), 1, Math.exp(end)].map(formatNumber)
    const texts = [`${least}${from}`, middle, `${most}${to}`]
    return { swatches: swatches('div'), texts: end === 0 ? ['1 on every token'] : texts }
  }
  if (end === 0) {
    const none = isAlike ? 'all answers scored alike: no advantage' : '0 on every token'
    return { swatches: [scale === 'div' ? 'div-5' : 'seq-0'], texts: [none] }
  }
  const unit = mode === 'advantages' ? '' : ' nats'
  if (scale === 'div')
    return {
      swatches: swatches('div'),
      texts: [`${least}${formatNumber(-end)}`, '0', `${most}${formatNumber(end)}${unit}`],
    }
  if (ENTROPIES.includes(mode))
    return { swatches: swatches('seq'), texts: ['0', `ln V = ${formatNumber(end)} nats`] }
  const last = mode === 'kl_ref' ? end : -end
  return { swatches: swatches('seq'), texts: ['0', `${most}${formatNumber(last)}${unit}`] }
}

/** Why a mode has no colours in a step. `isOver`: the run takes no more steps. */
export function missingReason(mode: Mode, updates: number, isOver: boolean): string {
  switch (mode) {
    case 'kl_ref':
      return 'This phase compares with no reference, so there is no KL to one.'
    case 'layer_entropy':
      return isOver
        ? 'The entropies of the layers were not measured when this step was traced. A look at a kept state traces the step after it with them.'
        : 'The entropies of the layers were not measured when this step was traced. Steps that are traced while this colour is chosen have them.'
    case 'clipped':
      return updates === 0
        ? 'Only the critic learned in this step.'
        : 'The loss of this phase has no clip.'
    case 'chosen':
      return updates === 0
        ? 'Only the critic learned in this step.'
        : 'The loss of this phase chooses no tokens: clip_cov and kl_cov do.'
    case 'log_probs':
    case 'ratio':
    case 'moved':
    case 'entropy':
      return updates === 0
        ? 'Only the critic learned in this step, so the policy was not asked again.'
        : 'This step did not compute it.'
    default:
      return 'This step did not compute it.'
  }
}
