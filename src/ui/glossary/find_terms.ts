// Finds the glossary's terms in a text of the page.
import { TERMS } from './terms.ts'

/** A piece of a text: plain, or one term of the glossary. */
export interface Piece {
  readonly text: string
  readonly term?: string
}

const OF_WORD = new Map(
  TERMS.flatMap(({ id, name, words }) =>
    (words ?? [name]).map((word) => [word.toLowerCase(), id] as const),
  ),
)
/** Longer ones first: `reward model` is not `reward`. */
const WORDS = [...OF_WORD.keys()].sort((a, b) => b.length - a.length)
const escaped = (word: string) => word.replace(/[+.*?()[\]]/g, '\\$&')
/** Not a part of a name, as in `rollout.n`. */
const PATTERN = new RegExp(
  `(?<![\\w-]|\\w\\.)(${WORDS.map(escaped).join('|')})(?:s|es)?(?![\\w-]|\\.\\w)`,
  'gi',
)

const termsIn = (text: string): readonly (string | undefined)[] =>
  [...text.matchAll(PATTERN)].map(([, word]) => OF_WORD.get(word.toLowerCase()))

/** The text in pieces; each term where it comes first, and none that `after` has. Together they are
 * the text. */
export function piecesOf(text: string, after = ''): readonly Piece[] {
  const pieces: Piece[] = []
  const seen = new Set(termsIn(after))
  let end = 0
  for (const { 0: found, 1: word, index } of text.matchAll(PATTERN)) {
    const term = OF_WORD.get(word.toLowerCase())
    if (term === undefined || seen.has(term)) continue
    seen.add(term)
    if (index > end) pieces.push({ text: text.slice(end, index) })
    pieces.push({ text: found, term })
    end = index + found.length
  }
  if (end < text.length) pieces.push({ text: text.slice(end) })
  return pieces
}
