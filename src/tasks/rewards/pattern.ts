// Matches regular expressions without backtracking: a pattern becomes a list of instructions, and
// all ways to match it are followed at once. Time grows with the length of the text times that of
// the list, whatever the pattern (Thompson 1968; Pike's virtual machine).

/** Characters from the first to the second code point, both included. */
type Range = readonly [number, number]

/** One step of a compiled pattern. `split` continues at two places. */
export type Instruction =
  | readonly ['chars', readonly Range[]]
  | readonly ['split', number, number]
  | readonly ['jump', number]
  | readonly ['start' | 'end' | 'word' | 'not_word']
  | readonly ['match']

/** Longer lists are refused: a pattern such as (a{100}){100} would make one. */
const MOST_INSTRUCTIONS = 2000
const LAST = 0x10ffff

const DIGITS: readonly Range[] = [[48, 57]]
const WORD: readonly Range[] = [...DIGITS, [65, 90], [95, 95], [97, 122]]
const SPACE: readonly Range[] = [
  [9, 13],
  [32, 32],
]
const NOT_NEWLINE = others([[10, 10]])
const CLASSES: Readonly<Record<string, readonly Range[]>> = {
  d: DIGITS,
  w: WORD,
  s: SPACE,
  D: others(DIGITS),
  W: others(WORD),
  S: others(SPACE),
}
const CONTROLS: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, f: 12, v: 11, '0': 0 }

/** All characters that are in none of the ranges. */
function others(ranges: readonly Range[]): Range[] {
  const found: Range[] = []
  let from = 0
  for (const [first, last] of ranges.toSorted((a, b) => a[0] - b[0])) {
    if (first > from) found.push([from, first - 1])
    from = Math.max(from, last + 1)
  }
  return from <= LAST ? [...found, [from, LAST]] : found
}

type Part = readonly Instruction[]

/** The same instructions `by` places further on. */
const moved = (part: Part, by: number): Instruction[] =>
  part.map((own): Instruction => {
    if (own[0] === 'split') return ['split', own[1] + by, own[2] + by]
    return own[0] === 'jump' ? ['jump', own[1] + by] : own
  })

const joined = (a: Part, b: Part): Part => [...a, ...moved(b, a.length)]
const optional = (part: Part): Part => [['split', 1, part.length + 1], ...moved(part, 1)]
const repeated = (part: Part): Part => [
  ['split', 1, part.length + 2],
  ...moved(part, 1),
  ['jump', 0],
]
const either = (a: Part, b: Part): Part => [
  ['split', 1, a.length + 2],
  ...moved(a, 1),
  ['jump', a.length + b.length + 2],
  ...moved(b, a.length + 2),
]

/** Reads a pattern from left to right. */
class Reader {
  readonly #pattern: string
  readonly #signs: readonly string[]
  #at = 0

  constructor(pattern: string) {
    this.#pattern = pattern
    this.#signs = [...pattern]
  }

  get next(): string | undefined {
    return this.#signs[this.#at]
  }

  refuse(what: string): RangeError {
    return new RangeError(`pattern: ${what} at character ${this.#at + 1} of ${this.#pattern}`)
  }

  take(): string {
    const sign = this.#signs[this.#at++]
    if (sign === undefined) throw this.refuse('expected more')
    return sign
  }

  /** Whether the next characters are these; then they are taken. */
  takes(text: string): boolean {
    const is = [...text].every((sign, i) => this.#signs[this.#at + i] === sign)
    if (is) this.#at += text.length
    return is
  }

  /** A whole number; undefined where none is next. */
  number(): number | undefined {
    let digits = ''
    while (/^[0-9]$/.test(this.next ?? '')) digits += this.take()
    return digits === '' ? undefined : Number(digits)
  }
}

function choices(reader: Reader): Part {
  const first = sequence(reader)
  return reader.takes('|') ? checked(either(first, choices(reader)), reader) : first
}

function sequence(reader: Reader): Part {
  let part: Part = []
  while (reader.next !== undefined && reader.next !== '|' && reader.next !== ')')
    part = checked(joined(part, quantified(reader)), reader)
  return part
}

function checked(part: Part, reader: Reader): Part {
  if (part.length > MOST_INSTRUCTIONS)
    throw reader.refuse(`expected at most ${MOST_INSTRUCTIONS} instructions, found more`)
  return part
}

function quantified(reader: Reader): Part {
  const part = atom(reader)
  const [least, most] = quantity(reader)
  if (least === 1 && most === 1) return part
  // Lazy or greedy: whether there is a match is the same.
  reader.takes('?')
  if (['*', '+', '?'].includes(reader.next ?? '')) throw reader.refuse('nothing to repeat')
  const times = most === Number.POSITIVE_INFINITY ? least : most
  if (times * part.length > MOST_INSTRUCTIONS) checked(new Array(MOST_INSTRUCTIONS + 1), reader)
  let found: Part = []
  for (let i = 0; i < times; i++) found = joined(found, i < least ? part : optional(part))
  return most === Number.POSITIVE_INFINITY ? joined(found, repeated(part)) : found
}

/** How often what was read last may occur: least and most. */
function quantity(reader: Reader): readonly [number, number] {
  if (reader.takes('*')) return [0, Number.POSITIVE_INFINITY]
  if (reader.takes('+')) return [1, Number.POSITIVE_INFINITY]
  if (reader.takes('?')) return [0, 1]
  if (!reader.takes('{')) return [1, 1]
  const least = reader.number()
  const most = reader.takes(',') ? (reader.number() ?? Number.POSITIVE_INFINITY) : least
  if (least === undefined || most === undefined || most < least || !reader.takes('}'))
    throw reader.refuse('expected {n}, {n,} or {n,m}; write \\{ for the sign')
  return [least, most]
}

function atom(reader: Reader): Part {
  const sign = reader.take()
  if (sign === '(') return group(reader)
  if (sign === '[') return [['chars', set(reader)]]
  if (sign === '.') return [['chars', NOT_NEWLINE]]
  if (sign === '^') return [['start']]
  if (sign === '$') return [['end']]
  if (['*', '+', '?', '{'].includes(sign)) throw reader.refuse('nothing to repeat')
  if (sign !== '\\') return [['chars', [only(sign)]]]
  if (reader.takes('b')) return [['word']]
  if (reader.takes('B')) return [['not_word']]
  return [['chars', escaped(reader)]]
}

const only = (sign: string): Range => {
  const point = sign.codePointAt(0) ?? 0
  return [point, point]
}

function group(reader: Reader): Part {
  if (reader.takes('?') && !reader.takes(':'))
    throw reader.refuse('look-around, named groups and flags are not supported')
  const part = choices(reader)
  if (!reader.takes(')')) throw reader.refuse('expected )')
  return part
}

/** What follows a backslash. */
function escaped(reader: Reader): readonly Range[] {
  const sign = reader.take()
  if (Object.hasOwn(CLASSES, sign)) return CLASSES[sign]
  if (Object.hasOwn(CONTROLS, sign)) return [[CONTROLS[sign], CONTROLS[sign]]]
  if (sign === 'x' || sign === 'u') {
    const digits = Array.from({ length: sign === 'x' ? 2 : 4 }, () => reader.take()).join('')
    if (!/^[0-9A-Fa-f]+$/.test(digits)) throw reader.refuse('expected hexadecimal digits')
    return [[Number.parseInt(digits, 16), Number.parseInt(digits, 16)]]
  }
  if (/^[A-Za-z1-9]$/.test(sign)) throw reader.refuse(`\\${sign} is not supported`)
  return [only(sign)]
}

/** The inside of […]. */
function set(reader: Reader): readonly Range[] {
  const isNegated = reader.takes('^')
  const ranges: Range[] = []
  const one = (): readonly Range[] => {
    const sign = reader.take()
    return sign === '\\' ? escaped(reader) : [only(sign)]
  }
  do {
    const first = one()
    const isRange = first.length === 1 && first[0][0] === first[0][1] && reader.takes('-')
    if (!isRange) ranges.push(...first)
    else if (reader.next === ']') ranges.push(...first, only('-'))
    else {
      const last = one()
      if (last.length !== 1 || last[0][0] < first[0][0])
        throw reader.refuse('expected a range from a lower to a higher character')
      ranges.push([first[0][0], last[0][1]])
    }
  } while (!reader.takes(']'))
  return isNegated ? others(ranges) : ranges
}

/** A pattern as instructions: characters, . [a-z] [^a-z] \d \w \s (ASCII) \D \W \S, groups, | * + ?
 * {n,m}, ^ $ (of the whole text) \b \B. Throws RangeError for what it does not know, such as
 * look-around and back references, naming it. */
export function compilePattern(pattern: string): readonly Instruction[] {
  const reader = new Reader(pattern)
  const part = choices(reader)
  if (reader.next !== undefined) throw reader.refuse('found a ) without (')
  return [...part, ['match']]
}

const isWord = (point: number | undefined) =>
  point !== undefined && WORD.some(([first, last]) => point >= first && point <= last)

/** Whether compiled instructions match the text from its beginning (`isAnchored`: up to its end),
 * or else somewhere in it. */
export function matches(code: readonly Instruction[], text: string, isAnchored: boolean): boolean {
  const points = Array.from(text, (sign) => sign.codePointAt(0) ?? 0)
  let present = new Set<number>()
  for (let at = 0; at <= points.length; at++) {
    if (at === 0 || !isAnchored) present.add(0)
    const isBoundary = isWord(points[at - 1]) !== isWord(points[at])
    const holds = { start: at === 0, end: at === points.length, word: isBoundary }
    const waiting: (readonly Range[])[] = []
    const places: number[] = []
    // A set hands out what is added while it is gone through.
    for (const place of present) {
      const own = code[place]
      if (own[0] === 'match') {
        if (!isAnchored || at === points.length) return true
      } else if (own[0] === 'split') present.add(own[1]).add(own[2])
      else if (own[0] === 'jump') present.add(own[1])
      else if (own[0] === 'chars') {
        waiting.push(own[1])
        places.push(place)
      } else if (own[0] === 'not_word' ? !isBoundary : holds[own[0]]) present.add(place + 1)
    }
    const point = points[at]
    present = new Set(
      places
        .filter((_, i) => waiting[i].some(([first, last]) => point >= first && point <= last))
        .map((place) => place + 1),
    )
  }
  return false
}
