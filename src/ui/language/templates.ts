// Finds the template that a text was made from: `Step {0} of {1}` for `Step 3 of 9`.

/** A place for a value in a text of a catalogue. */
const HOLE = /\{\d+\}/g

interface Template {
  readonly key: string
  /** Its text between its holes. */
  readonly literals: readonly string[]
  /** Letters outside its holes: the more, the surer a match. */
  readonly weight: number
  /** Characters outside its holes. */
  readonly length: number
}

export interface Match {
  readonly key: string
  readonly weight: number
  readonly length: number
  /** Its text between its holes. */
  readonly literals: readonly string[]
  /** What its holes hold, in their order. */
  readonly values: readonly string[]
  /** A hole holds a number and more. */
  readonly isOdd: boolean
}

/** Ways to cut a text that are tried for one template. */
const MOST_CUTS = 24

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[a-z]+/g) ?? []

/** The whole words of a template: those beside a hole may go on in it. */
const wholeWords = (key: string): string[] =>
  wordsOf(key.replace(/[A-Za-z]*\{\d+\}[A-Za-z]*/g, ' '))

function templateOf(key: string): Template {
  const literals = key.split(HOLE)
  const own = literals.join('')
  return { key, literals, weight: own.replace(/[^A-Za-z]/g, '').length, length: own.length }
}

/** Letters from which a template is the right one whatever its holes hold. */
export const CERTAIN = 20
const ALONE = 8

/** `60.0 %, 38.0 %, −2.5e-4` */
const NUMBERS =
  /^[−-]?[\d.]+(?:e[−-]?\d+)?(?:\s%)?(?:(?:, | and )[−-]?[\d.]+(?:e[−-]?\d+)?(?:\s%)?)*$/

/** `layer {0}`: a number follows, and nothing else: `layer 1 alone` is more than a layer, and
 * neither what is counted behind it, nor a dash for a value, nor what comes behind a comma is of
 * the step. */
const IS_NUMBERED = /\b(?:layer|step|token|block|phase|head) $|@$/i
const MORE = /^$|^\d+(?: (?!final\b|and \d)[a-z]| (?=[\d–]|[\ue000-\uf8ff])|[,;:] (?!\d))/

/** What begins with a number is that number with its unit and its interval, a duration, or a
 * list of numbers. */
function isOneValue(text: string): boolean {
  if (!/^[−-]?\d/.test(text) || NUMBERS.test(text)) return true
  const value = text.replace(/ ± \S+| \[[^\]]*\]| to [−-]?[\d.]+(?=\s|$)|(?<=^\d+) × \d+/g, '')
  return !/:\s|^\S+\s(?:\S+\s)*?[−-]?\d/.test(value) || /^\d+ (min|h) \d+ (s|min)$/.test(value)
}

/** Whether every bracket and quotation that a text opens is closed in it, and every interval. A
 * token in straight quotes, or at the beginning, may be a bracket itself. */
function isClosed(text: string): boolean {
  let depth = 0
  const bare = text.replace(/"[^"]*"/g, '').replace(/^[()](?=[\s,]|$)/, '')
  for (const sign of bare.match(/[()“”]|\[(?=[−+-]?\d)|(?<=\d)\]/g) ?? []) {
    depth += '(“['.includes(sign) ? 1 : -1
    if (depth < 0) return false
  }
  return depth === 0
}

/** A text of several sentences, or the end of one, is no part of a sentence: it fits where
 * sentences begin and end. So does what ends a clause, and half of what is in brackets or quoted
 * never fits. */
function fits(value: string, before: string, after: string): boolean {
  if (!isClosed(value) && isClosed(before + after)) return false
  if (/;$/.test(value) && /^\s/.test(after)) return false
  const isLast = after === '' && /[.,:;!?]$/.test(value)
  if (!isLast && !/[.!?]\s+\S/.test(value)) return true
  const begins = before === '' || /[.!?:…“]\s*$/.test(before)
  return begins && (after === '' || /^[.!?”]/.test(after) || /[.!?]["”’)]*\s*$/.test(value))
}

/** Where the text before a hole's end may stop. Two holes side by side are cut between sentences
 * or before a clause, and the point that ends a sentence is none of a number. */
function* endsOf(text: string, literal: string, from: number): Iterable<number> {
  if (literal === '') {
    yield text.length
    yield from
    for (let at = from + 1; at < text.length; at++)
      if (/[.!?]/.test(text[at - 1]) || /^[;,] /.test(text.slice(at, at + 2))) yield at
    return
  }
  for (let at = text.indexOf(literal, from); at >= 0; at = text.indexOf(literal, at + 1))
    if (!(literal.endsWith('.') && /\d/.test(text[at + literal.length] ?? ''))) yield at
}

/** The values of every way to cut a text at the literals from `hole` on. */
function* cuts(text: string, literals: readonly string[], hole = 0, at = 0): Iterable<string[]> {
  const next = literals[hole + 1]
  const isLast = hole + 2 === literals.length
  const ends = isLast ? [text.length - next.length] : endsOf(text, next, at)
  for (const end of ends) {
    const value = text.slice(at, end)
    if (end < at || !fits(value, literals[hole], next)) continue
    if (isLast) yield [value]
    else
      for (const rest of cuts(text, literals, hole + 1, end + next.length)) yield [value, ...rest]
  }
}

/** `{0}. {1}{2}` */
const ENDS_OPEN = /[.!?…](?:\{\d+\})* (?:\{\d+\})+$/

function matchesOf({ key, literals, weight, length }: Template, text: string): Match[] {
  const [first] = literals
  const last = literals[literals.length - 1]
  const found: Match[] = []
  // What stands behind its last sentence may be nothing, and then the space was cut off.
  const open = ENDS_OPEN.test(key) && !text.endsWith(' ') ? [text, `${text} `] : [text]
  const whole = open.filter((one) => one.startsWith(first) && one.endsWith(last))
  for (const values of whole.flatMap((one) => [...cuts(one, literals, 0, first.length)])) {
    // An icon before a text is none of its value.
    if (first === '' && /^[\ue000-\uf8ff](?:\s+\d|[a-z])/.test(values[0] ?? '')) continue
    if (values.some((value, i) => IS_NUMBERED.test(literals[i]) && MORE.test(value))) continue
    // What stands in brackets has its ends.
    const isOdd = !values.every(
      (value, i) =>
        isOneValue(value) ||
        (literals[i].endsWith('(') && literals[i + 1].startsWith(')')) ||
        (literals[i].endsWith(': ') && literals[i + 1] === '.'),
    )
    // One hole alone can be cut in one way.
    if (!isOdd || weight >= (values.length === 1 ? ALONE : CERTAIN))
      found.push({ key, weight, length, literals, values, isOdd })
    if (found.length === MOST_CUTS) break
  }
  return found
}

/** Templates by a word that each must have, its rarest, so that a text is tried against few. */
export class Templates {
  private readonly byWord = new Map<string, Template[]>()
  /** Those without a whole word. */
  private readonly wordless: Template[] = []

  constructor(keys: Iterable<string>) {
    const all = [...keys].filter((key) => key.search(HOLE) >= 0)
    const counts = new Map<string, number>()
    for (const key of all)
      for (const word of new Set(wholeWords(key))) counts.set(word, (counts.get(word) ?? 0) + 1)
    const rarest = (words: readonly string[]) =>
      words.reduce((a, b) => ((counts.get(b) ?? 0) < (counts.get(a) ?? 0) ? b : a))
    for (const key of all) {
      const words = wholeWords(key)
      const template = templateOf(key)
      if (words.length === 0) this.wordless.push(template)
      else {
        const word = rarest(words)
        this.byWord.set(word, [...(this.byWord.get(word) ?? []), template])
      }
    }
  }

  /** All that a text can have been made from. */
  matches(text: string): Match[] {
    const found: Match[] = []
    const words = new Set(wordsOf(text))
    for (const list of [this.wordless, ...[...words].map((word) => this.byWord.get(word) ?? [])])
      for (const template of list) found.push(...matchesOf(template, text))
    return found
  }
}
