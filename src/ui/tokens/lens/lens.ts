// Computes what the layer lens shows, without React.
import {
  LENS_TOP,
  type Lens,
  type LensReadout,
  type LensSample,
  type Observation,
} from '../../../host/protocol/observation.ts'
import { formatNumber, formatShare } from '../../kit/format.ts'

export type LensKind = 'raw' | 'normed'

/** The same text is the same key at every step. */
export const textKey = ({ prompt, response, is_ended }: LensSample): string =>
  JSON.stringify([prompt, response, is_ended])

export const lensOf = (
  observation: Observation | undefined,
  key: string | undefined,
): Lens | undefined => observation?.lenses.find((lens) => textKey(lens) === key)

/** L + 1. */
export const layersOf = ({ tokens, raw }: Lens): number =>
  tokens.length === 0 ? 0 : raw.entropy.length / tokens.length

/** The last layer is the model's own policy, which reads its state through the final norm whatever
 * way the others are read. */
const readoutOf = (lens: Lens, kind: LensKind, layer: number): LensReadout =>
  lens[layer === layersOf(lens) - 1 ? 'normed' : kind]

/** What one layer says at one position. */
export interface LensCell {
  readonly layer: number
  /** From 0; position s predicts token s + 1. */
  readonly position: number
  /** Likeliest first. */
  readonly top: readonly { readonly token: string; readonly prob: number }[]
  /** Nats. */
  readonly entropy: number
  /** The token that follows and its probability; undefined at the last position. */
  readonly next: { readonly token: string; readonly prob: number } | undefined
  /** Whether the likeliest token is the one that follows. */
  readonly is_right: boolean
}

/** A cell of the grid; undefined outside of it. */
export function lensCell(
  lens: Lens,
  kind: LensKind,
  layer: number,
  position: number,
): LensCell | undefined {
  const layers = layersOf(lens)
  if (layer < 0 || layer >= layers || position < 0 || position >= lens.tokens.length)
    return undefined
  const { entropy, top, top_probs, next_prob } = readoutOf(lens, kind, layer)
  const at = position * layers + layer
  const prob = next_prob[at]
  const token = lens.tokens.at(position + 1)
  const isLast = position + 1 >= lens.tokens.length
  const shown = Array.from({
    length: Math.min(LENS_TOP, top.length / (lens.tokens.length * layers)),
  })
    .map((_, k) => ({ token: top[at * LENS_TOP + k], prob: top_probs[at * LENS_TOP + k] }))
    .filter((one) => one.token !== undefined)
  const next = isLast || token === undefined || Number.isNaN(prob) ? undefined : { token, prob }
  return {
    layer,
    position,
    top: shown,
    next,
    entropy: entropy[at],
    is_right: next !== undefined && shown[0]?.token === next.token,
  }
}

/** Entropy of a layer where token t of the response was written; undefined outside. */
export function entropyAtToken(
  lens: Lens,
  kind: LensKind,
  layer: number,
  t: number,
): number | undefined {
  return lensCell(lens, kind, layer, lens.prompt_length - 1 + t)?.entropy
}

/** Probability of the token that follows, now less before; undefined where one of them has none. */
export function nextChange(
  now: LensCell | undefined,
  before: LensCell | undefined,
): number | undefined {
  return now?.next && before?.next ? now.next.prob - before.next.prob : undefined
}

/** The largest change of the grid in size; 0 where nothing can be compared. */
export function largestChange(now: Lens, before: Lens, kind: LensKind): number {
  const layers = layersOf(now)
  let largest = 0
  for (let layer = 0; layer < layers; layer++) {
    const values = readoutOf(now, kind, layer).next_prob
    const others = readoutOf(before, kind, layer).next_prob
    for (let i = layer; i < Math.min(values.length, others.length); i += layers) {
      const change = Math.abs(values[i] - others[i])
      if (change > largest) largest = change
    }
  }
  return largest
}

/** Mean entropy by layer, nats: over all positions, or where the last `written` tokens were
 * written, one place before each. */
export function meanEntropies(lens: Lens, kind: LensKind, written?: number): number[] {
  const [layers, positions] = [layersOf(lens), lens.tokens.length]
  const [from, to] =
    written === undefined ? [0, positions] : [positions - 1 - written, positions - 1]
  return Array.from({ length: layers }, (_, layer) => {
    const { entropy } = readoutOf(lens, kind, layer)
    let sum = 0
    for (let position = from; position < to; position++) sum += entropy[position * layers + layer]
    return sum / (to - from)
  })
}

/** The policy of the whole model where each token was to come: the first has nothing before it. */
export const finalCells = (lens: Lens): readonly (LensCell | undefined)[] =>
  lens.tokens.map((_, i) => lensCell(lens, 'normed', layersOf(lens) - 1, i - 1))

/** Whole per cent, as small as a cell needs. */
export const percent = (prob: number): string =>
  prob > 0 && prob < 0.005 ? '<1' : `${Math.round(100 * prob)}`

/** Percentage points with their sign. */
export function points(change: number): string {
  const whole = Math.round(100 * change)
  if (whole === 0) return change === 0 ? '0' : change > 0 ? '+<1' : '−<1'
  return whole > 0 ? `+${whole}` : `−${-whole}`
}

/** Of the tokens of the response, those that a layer's likeliest token names. */
export function rightAt(lens: Lens, kind: LensKind, layer: number): number {
  let right = 0
  for (let s = lens.prompt_length - 1; s < lens.tokens.length - 1; s++)
    if (lensCell(lens, kind, layer, s)?.is_right) right++
  return right
}

/** How many tokens of their responses the model, the layer below it and the embedding name; ''
 * where there is none to name. With `step` it says of which. */
export function lensesSay(lenses: readonly Lens[], kind: LensKind, step?: number): string {
  const of = (count: (lens: Lens) => number) => lenses.reduce((sum, lens) => sum + count(lens), 0)
  const count = of(({ tokens, prompt_length }) => tokens.length - prompt_length)
  const [first] = lenses
  if (!first || count < 1) return ''
  const last = layersOf(first) - 1
  const right = (layer: number) => of((lens) => rightAt(lens, kind, layer))
  const all =
    lenses.length === 1
      ? `${count} response tokens`
      : `${count} tokens of ${lenses.length} held-out answers`
  const lowest = right(0)
  const who = step === undefined ? 'The model' : `At step ${step} the model`
  if (last === 1) return `${who} names ${right(1)} of ${all}; the embedding would name ${lowest}.`
  return `${who} names ${right(last)} of ${all}; layer ${last - 1} would name ${right(last - 1)}, the embedding ${lowest}.`
}

/** The grid in words. */
export const lensSummary = (lens: Lens, kind: LensKind): string =>
  lensesSay([lens], kind) || 'This text has no response to predict.'

/** A cell in words, for those who hear it. */
export function cellWords(cell: LensCell, words: (token: string) => string): string {
  const [best] = cell.top
  const said = best ? `${words(best.token)} ${formatShare(best.prob)}` : 'nothing'
  const entropy = formatNumber(cell.entropy)
  if (!cell.next) return `${said}, entropy ${entropy} nats`
  const next = words(cell.next.token)
  return `${said}, entropy ${entropy} nats, ${next} follows with ${formatShare(cell.next.prob)}`
}
