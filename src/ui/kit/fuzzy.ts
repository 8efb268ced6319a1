// Finds what is meant by a few letters, and says which of several is meant most.
import { t } from './translator.ts'

/** Half-open ranges of a text. */
export type Marks = readonly (readonly [from: number, to: number])[]

export interface Match {
  /** Larger is better; only comparable for one query. */
  readonly score: number
  /** What of the text was found. */
  readonly marks: Marks
}

const isWordStart = (text: string, at: number): boolean =>
  at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1])

/** Whether a word of the text begins so: inside of one, a few letters are found by chance ("ppo" in
 * "support"). */
function beginsWord(word: string, text: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
    if (isWordStart(text, at)) return true
  return false
}

/** The letters of a word one after another, each at the start of a word or right behind the one
 * before. */
function initials(word: string, text: string): Match | undefined {
  const marks: [number, number][] = []
  let at = 0
  for (const letter of word) {
    let found = text.indexOf(letter, at)
    while (found >= 0 && found !== at && !isWordStart(text, found))
      found = text.indexOf(letter, found + 1)
    if (found < 0 || (found === at && at === 0 && !isWordStart(text, found))) return undefined
    const last = marks.at(-1)
    if (last && last[1] === found) last[1] = found + 1
    else marks.push([found, found + 1])
    at = found + 1
  }
  return { score: 40 - marks.length, marks }
}

/** One word in a text: from the start of a word, inside one, or as initials of several. */
function matchWord(word: string, text: string): Match | undefined {
  const places: number[] = []
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) places.push(at)
  const start = places.find((at) => isWordStart(text, at))
  const at = start ?? places[0]
  if (at === undefined) return word.length > 1 ? initials(word, text) : undefined
  const end = at + word.length
  const isWhole = end === text.length || !/[\p{L}\p{N}]/u.test(text[end])
  const score = start === undefined ? 50 : 100 + (isWhole ? 10 : 0) + (at === 0 ? 10 : 0)
  return { score, marks: [[at, end]] }
}

/** The words of a query, in small letters. */
export const wordsOf = (query: string): string[] =>
  query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')

/** What a search looks through: texts in English and in the page's language, in small letters. */
export const searchable = (texts: readonly (string | null)[]): string =>
  [...texts, ...texts.map((text) => text && t(text))].join('\n').toLowerCase()

/** Whether every word of a query is in some of these texts. */
export function isFound(query: string, texts: readonly string[]): boolean {
  const text = searchable(texts)
  return wordsOf(query).every((word) => text.includes(word))
}

/** Ranges in order, those that touch as one. */
function joined(marks: Marks): Marks {
  const sorted = [...marks].sort(([a], [b]) => a - b)
  const all: [number, number][] = []
  for (const [from, to] of sorted) {
    const last = all.at(-1)
    if (last && from <= last[1]) last[1] = Math.max(last[1], to)
    else all.push([from, to])
  }
  return all
}

/** How a text answers a query: every word of the query must be found in `text`, or, for less, in
 * `also`. undefined where one is not; an empty query finds everything alike. */
export function fuzzyMatch(query: string, text: string, also = ''): Match | undefined {
  const lower = text.toLowerCase()
  const lowerAlso = also.toLowerCase()
  let score = 0
  const marks: (readonly [number, number])[] = []
  for (const word of wordsOf(query)) {
    const own = matchWord(word, lower)
    if (own) {
      score += own.score
      marks.push(...own.marks)
    } else if (beginsWord(word, lowerAlso)) score += 20
    else return undefined
  }
  // Of equals, the shorter name is nearer to what was typed.
  return { score: score === 0 ? 0 : score - lower.length / 1000, marks: joined(marks) }
}

/** What answers a query, best first; equals in their given order. `bonus` lifts what is meant more
 * often. */
export function ranked<T>(
  query: string,
  items: readonly T[],
  textOf: (item: T) => { readonly text: string; readonly also?: string; readonly bonus?: number },
): readonly { readonly item: T; readonly match: Match }[] {
  return items
    .flatMap((item) => {
      const { text, also, bonus = 0 } = textOf(item)
      const match = fuzzyMatch(query, text, also)
      return match ? [{ item, match: { ...match, score: match.score + bonus } }] : []
    })
    .sort((a, b) => b.match.score - a.match.score)
}

/** A text cut into parts, those that were found marked. */
export function markedParts(
  text: string,
  marks: Marks,
): readonly { readonly text: string; readonly isMarked: boolean }[] {
  const parts: { text: string; isMarked: boolean }[] = []
  let at = 0
  const push = (to: number, isMarked: boolean) => {
    if (to > at) parts.push({ text: text.slice(at, to), isMarked })
    at = Math.max(at, to)
  }
  for (const [from, to] of marks) {
    push(from, false)
    push(to, true)
  }
  push(text.length, false)
  return parts
}
