// Tells whether a template that a text can have been made from fits what its holes hold.
import { holdsCode } from './kinds.ts'
import { CERTAIN, type Match } from './templates.ts'

/** Below so many, such as of `{0} of {1}`, a template is about less than a clause. */
export const WEAK = 6
/** Letters from which a template is sure even where it holds words that have no translation. */
export const SURE = 8

/** What was given, or what may be beside a number: the end of a message, and of none of its
 * values. */
const END_OF_MESSAGE = /[,;] (?:got|found) |^\S*\d, or null\b|\S by arm$/

/** How a translation counts: `3 个`. */
const COUNTS = /^ ?[个次步行条种组层项份轮]/

/** Whether it counts what is no number, as `{0} 个回答` would with words before `responses`. */
export const isWrongCount = (
  { key, values: [counted] }: Match,
  filled: string,
  said: string,
): boolean =>
  /^\{0\} [a-z]+$/.test(key) &&
  /^[a-z]+$|\s/i.test(counted) &&
  !/[\d\ue000-\uf8ff]$/.test(counted) &&
  filled.startsWith(said) &&
  COUNTS.test(filled.slice(said.length))

/** Whether a hole holds more than belongs into it: clauses in a part of a sentence, or in a
 * template of hardly a word, but for what comes after its colon. */
export function holdsClauses(match: Match): boolean {
  const { key, weight, literals } = match
  const values = match.values.map((value, i) =>
    holdsCode(match, i) || literals[i].endsWith('“') ? '' : value.replace(/^[,;:]\s/, ''),
  )
  const holds = (sign: RegExp, of = values) => of.some((value) => sign.test(value))
  // A sentence ends before the next one begins.
  if (/: \{\d+\}\.$/.test(key) && /[.!?]\s/.test(values[values.length - 1])) return true
  const isPart = !/[.!?:”](?: ?\{\d+\})*$/.test(key)
  if (isPart && !key.includes(';') && holds(/;\s/)) return true
  if (isPart && !key.includes(':') && weight < CERTAIN && holds(/:\s/)) return true
  const inside = /:\s\{\d+\}\.?$/.test(key) ? values.slice(0, -1) : values
  if (isPart && holds(END_OF_MESSAGE, inside)) return true
  const [first, ...others] = inside
  const isList = key.includes(',') && !/[:;]\s/.test(first)
  // `It is {0}.`
  if (/^[A-Z][^.{]*\{0\}\.$/.test(key)) return holds(/[.!?]\s/)
  return weight < WEAK && (holds(/[,:;]\s/, isList ? others : inside) || holds(/[.!?]\s/))
}
