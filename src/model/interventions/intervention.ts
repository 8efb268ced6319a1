// Describes interventions as data: which part of a forward pass is changed, where, and into what.
import { isFiniteNumber } from '../../formats/json.ts'
import { ShapeError } from '../../kernels/device/base/errors.ts'
import type { ModelShape } from '../layout/config.ts'

/** The residual stream after `layer` blocks; or what block `layer`, or a part of it, writes. */
const WHERE = ['block', 'attention', 'feed_forward', 'head', 'residual'] as const
export type Where = (typeof WHERE)[number]
/** Into what: nothing, its mean over the text, a given vector, its state for another text, or
 * itself and a vector. */
const WHAT = ['zero', 'mean', 'value', 'patch', 'add'] as const
type What = (typeof WHAT)[number]

/** A text, or its token ids. */
export type OtherText = string | readonly number[]

/** One change of a forward pass. */
export interface Intervention {
  readonly where: Where
  /** Blocks applied: 0 … L for the residual stream, 1 … L for a block and its parts. */
  readonly layer: number
  /** From 0: which query head; of where 'head' alone. */
  readonly head?: number
  /** Which tokens, from 0; absent = all. */
  readonly positions?: readonly number[]
  readonly what: What
  /** Of 'value' and 'add': C numbers, or D of a head. */
  readonly value?: readonly number[]
  /** Of 'add': what the vector is multiplied by; absent = 1. */
  readonly strength?: number
  /** Of 'patch': the other text, or its token ids. */
  readonly from?: OtherText
  /** Of 'add' in place of a vector: the mean state of these texts less that of the texts in
   * `away`. */
  readonly toward?: readonly OtherText[]
  readonly away?: readonly OtherText[]
}

type Sizes = Pick<
  ModelShape,
  'num_hidden_layers' | 'num_attention_heads' | 'num_key_value_heads' | 'hidden_size' | 'head_dim'
>

const FIELDS = [
  'where',
  'layer',
  'head',
  'positions',
  'what',
  'value',
  'strength',
  'from',
  'toward',
  'away',
]

/** A list of interventions from JSON, for a text of `tokens` tokens. Throws ShapeError that names
 * the entry and the field: what does not exist in the model, what is beyond the text, and what says
 * nothing or too much. */
export function parseInterventions(json: unknown, shape: Sizes, tokens: number): Intervention[] {
  if (!Array.isArray(json))
    throw new ShapeError(`interventions: expected a list, got ${shown(json)}`)
  return json.map((entry, i) => checked(entry, `interventions[${i}]`, shape, tokens))
}

const shown = (x: unknown) => (x === undefined ? 'nothing' : JSON.stringify(x).slice(0, 60))

function checked(entry: unknown, at: string, shape: Sizes, tokens: number): Intervention {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry))
    throw new ShapeError(`${at}: expected a record {where, layer, what, …}, got ${shown(entry)}`)
  const given = entry as Readonly<Record<string, unknown>>
  const refuse = (field: string, expected: string) => {
    throw new ShapeError(`${at}.${field}: expected ${expected}, got ${shown(given[field])}`)
  }
  const unknown = Object.keys(given).find((name) => !FIELDS.includes(name))
  if (unknown !== undefined)
    throw new ShapeError(`${at}.${unknown}: unknown; expected ${FIELDS.join(', ')}`)
  const { where, what } = given
  if (!WHERE.includes(where as Where))
    refuse('where', `one of ${WHERE.join(', ')}${groups(where, shape)}`)
  if (!WHAT.includes(what as What)) refuse('what', `one of ${WHAT.join(', ')}`)
  const { num_hidden_layers: L, num_attention_heads: H } = shape
  const least = where === 'residual' ? 0 : 1
  if (!isWhole(given.layer, least, L))
    refuse('layer', `a number of blocks from ${least} to ${L}, as the model has`)
  if (where === 'head' ? !isWhole(given.head, 0, H - 1) : given.head !== undefined)
    refuse(
      'head',
      where === 'head' ? `a query head from 0 to ${H - 1}` : 'none where not a head is changed',
    )
  checkPositions(given.positions, tokens, refuse)
  checkValues(given, where === 'head' ? shape.head_dim : shape.hidden_size, refuse)
  return given as unknown as Intervention
}

const isWhole = (x: unknown, least: number, most: number) =>
  Number.isInteger(x) && (x as number) >= least && (x as number) <= most

/** Keys and values belong to several heads at once: what one of them writes is where to change
 * it. */
function groups(where: unknown, { num_attention_heads: H, num_key_value_heads: K }: Sizes): string {
  if (typeof where !== 'string' || !/^(key|value|kv)/.test(where) || H === K) return ''
  return `; ${H / K} query heads share a key and a value here, so change what a query head writes with "head"`
}

type Refuse = (field: string, expected: string) => void

function checkPositions(positions: unknown, tokens: number, refuse: Refuse): void {
  if (positions === undefined) return
  const fits = (x: unknown) => isWhole(x, 0, tokens - 1)
  if (!Array.isArray(positions) || positions.length === 0 || !positions.every(fits))
    refuse('positions', `a list of tokens from 0 to ${tokens - 1}, as the text has`)
}

const isText = (x: unknown) =>
  typeof x === 'string' ||
  (Array.isArray(x) && x.length > 0 && x.every((id) => isWhole(id, 0, Number.MAX_SAFE_INTEGER)))
const areTexts = (x: unknown) => Array.isArray(x) && x.length > 0 && x.every(isText)

function checkValues(given: Readonly<Record<string, unknown>>, size: number, refuse: Refuse): void {
  const { what, value, strength, from, toward, away } = given
  const isDifference = what === 'add' && (toward !== undefined || away !== undefined)
  const isVector = Array.isArray(value) && value.length === size && value.every(isFiniteNumber)
  if (isDifference) {
    for (const name of ['toward', 'away'])
      if (!areTexts(given[name])) refuse(name, 'a list of texts, or of lists of token ids')
    if (value !== undefined) refuse('value', 'none beside toward and away')
  } else if (what === 'value' || what === 'add') {
    if (!isVector) refuse('value', `a list of ${size} numbers`)
  } else if (value !== undefined) refuse('value', `none where what is ${what}`)
  if (what !== 'add')
    for (const name of ['toward', 'away'])
      if (given[name] !== undefined) refuse(name, `none where what is ${what}`)
  if (strength !== undefined && (what !== 'add' || !isFiniteNumber(strength)))
    refuse('strength', what === 'add' ? 'a number' : `none where what is ${what}`)
  if (what === 'patch') {
    if (!isText(from)) refuse('from', 'a text or a list of token ids')
  } else if (from !== undefined) refuse('from', `none where what is ${what}`)
}
