// Finds the glossary's terms in a text of the page.
import { locale, t } from '../kit/translator.ts'
import { TERMS, termOf } from './terms.ts'

/** A piece of a text: plain, or one term of the glossary. */
export interface Piece {
  readonly text: string
  readonly term?: string
}

const escaped = (word: string) => word.replace(/[+.*?()[\]]/g, '\\$&')

/** One Chinese character is a part of many words, as 组 of 组成: it is a term where it stands
 * alone. */
const alone = (word: string) =>
  /^\p{Script=Han}$/u.test(word) ? `(?<!\\p{Script=Han})${word}(?!\\p{Script=Han})` : escaped(word)

/** How the page's language says the terms. */
function wordsOfTerms() {
  const ofWord = new Map(
    TERMS.flatMap(({ id, name, words }) =>
      (words ?? [name]).map((word) => [t(word).toLowerCase(), id] as const),
    ),
  )
  // Longer ones first: `reward model` is not `reward`.
  const words = [...ofWord.keys()].sort((a, b) => b.length - a.length)
  // Not a part of a name, as in `rollout.n` or `critic/score/mean`.
  const pattern = new RegExp(
    `(?<![\\w-]|\\w[./])(${words.map(alone).join('|')})(?:s|es)?(?![\\w-]|[./]\\w)`,
    'giu',
  )
  return { locale: locale(), ofWord, pattern }
}
let kept: ReturnType<typeof wordsOfTerms> | undefined

function terms() {
  if (kept?.locale !== locale()) kept = wordsOfTerms()
  return kept
}

const termsIn = (text: string): readonly (string | undefined)[] => {
  const { pattern, ofWord } = terms()
  return [...text.matchAll(pattern)].map(([, word]) => ofWord.get(word.toLowerCase()))
}

/** The text in pieces; each term where it comes first, and none that `after` has. Together they are
 * the text. */
export function piecesOf(text: string, after = ''): readonly Piece[] {
  const pieces: Piece[] = []
  const seen = new Set(termsIn(after))
  let end = 0
  const { pattern, ofWord } = terms()
  for (const { 0: found, 1: word, index } of text.matchAll(pattern)) {
    const term = ofWord.get(word.toLowerCase())
    if (term === undefined || seen.has(term)) continue
    seen.add(term)
    if (index > end) pieces.push({ text: text.slice(end, index) })
    pieces.push({ text: found, term })
    end = index + found.length
  }
  if (end < text.length) pieces.push({ text: text.slice(end) })
  return pieces
}

/** What the term means that a text begins with, as a line of its own; '' where it begins with
 * none. */
export function meaningIn(text: string): string {
  const term = piecesOf(text)[0]?.term
  const found = term === undefined ? undefined : termOf(term)
  return found ? `\n\n${t(found.name)}: ${t(found.says)}` : ''
}
