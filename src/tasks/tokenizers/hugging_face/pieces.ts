// Cuts a text where a pattern matches, as the splits of Hugging Face's tokenizers do.
import { SplitPreTokenizer } from '@huggingface/tokenizers'
import { isObject } from '../../../formats/json.ts'
import { type Part, TokenizerFileError } from './tokenizer_json.ts'

const BEHAVIORS = [
  'Removed',
  'Isolated',
  'MergedWithPrevious',
  'MergedWithNext',
  'Contiguous',
] as const

/** What becomes of the matches of a split. */
export type Behavior = (typeof BEHAVIORS)[number]

interface Piece {
  readonly text: string
  readonly isMatch: boolean
}

/** The behaviour that a part of the file names. Throws TokenizerFileError for another. */
export function behaviorOf({ type, behavior = 'Isolated' }: Part): Behavior {
  const known = BEHAVIORS.find((one) => one === behavior)
  if (known) return known
  throw new TokenizerFileError(
    `tokenizer.json: ${type}.behavior: expected one of ${BEHAVIORS.join(', ')}, found ${behavior}`,
  )
}

/** Where the pattern of a part stands in its file, and what it is. */
export const whereOf = ({ type, pattern }: Part): string =>
  `tokenizer.json: ${type}.pattern: ${JSON.stringify(pattern).slice(0, 200)}`

/** Where expressions stand in the parts of a tokenizer.json, each as `whereOf` names it: what may
 * backtrack for ever. */
export function expressionsIn(part: unknown): readonly string[] {
  if (Array.isArray(part)) return part.flatMap(expressionsIn)
  if (!isObject(part)) return []
  const own = isObject(part.pattern) && typeof part.pattern.Regex === 'string'
  return [...(own ? [whereOf(part as Part)] : []), ...Object.values(part).flatMap(expressionsIn)]
}

/** The pattern {"Regex": …} or {"String": …} of a part, as a global expression. Regular expressions
 * are those of Oniguruma; the library translates them. Throws TokenizerFileError for one that
 * JavaScript cannot express. */
export function patternOf({ type, pattern }: Part): RegExp {
  const refuse = (why: string) => new TokenizerFileError(`tokenizer.json: ${type}.pattern: ${why}`)
  if (!isObject(pattern)) throw refuse('expected a Regex or a String')
  if (typeof pattern.String === 'string') return literal(pattern.String)
  if (typeof pattern.Regex !== 'string') throw refuse('expected a Regex or a String')
  try {
    const split = new SplitPreTokenizer({
      type: 'Split',
      behavior: 'Isolated',
      invert: false,
      pattern: { Regex: withFolds(pattern.Regex) },
    })
    if (split.pattern) return split.pattern
  } catch (error) {
    throw refuse(`${pattern.Regex}: ${error instanceof Error ? error.message : error}`)
  }
  throw refuse('expected a Regex or a String')
}

/** Ignoring case, Oniguruma takes ſ for an s and the sign of Kelvin for a k; the library knows only
 * ASCII's pairs. */
const withFolds = (regex: string) =>
  regex.replaceAll(/\(\?i:[^()[\]\\]*\)/g, (group) =>
    group.replaceAll(/s/gi, '[s\u017f]').replaceAll(/k/gi, '[k\u212a]'),
  )

const literal = (text: string) => new RegExp(text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'), 'gu')

/** The pieces of `text`, none of them empty. `isInverted`: what does not match counts as the
 * match. */
export function split(
  text: string,
  pattern: RegExp,
  behavior: Behavior,
  isInverted = false,
): string[] {
  const pieces: Piece[] = []
  let end = 0
  for (const { 0: match, index } of text.matchAll(pattern)) {
    if (index > end) pieces.push({ text: text.slice(end, index), isMatch: isInverted })
    if (match !== '') pieces.push({ text: match, isMatch: !isInverted })
    end = index + match.length
  }
  if (end < text.length) pieces.push({ text: text.slice(end), isMatch: isInverted })
  return joined(pieces, behavior)
}

function joined(pieces: readonly Piece[], behavior: Behavior): string[] {
  if (behavior === 'Removed') return pieces.flatMap(({ text, isMatch }) => (isMatch ? [] : [text]))
  if (behavior === 'MergedWithNext') {
    const reversed = mergedWithPrevious(pieces.toReversed(), (match, before) => match + before)
    return reversed.reverse()
  }
  if (behavior === 'MergedWithPrevious')
    return mergedWithPrevious(pieces, (match, before) => before + match)
  const texts: string[] = []
  pieces.forEach(({ text, isMatch }, i) => {
    if (behavior === 'Contiguous' && i > 0 && pieces[i - 1].isMatch === isMatch)
      texts[texts.length - 1] += text
    else texts.push(text)
  })
  return texts
}

/** A match joins the piece before it, unless that is a match itself. */
function mergedWithPrevious(
  pieces: readonly Piece[],
  join: (match: string, before: string) => string,
): string[] {
  const texts: string[] = []
  pieces.forEach(({ text, isMatch }, i) => {
    if (isMatch && i > 0 && !pieces[i - 1].isMatch) texts.push(join(text, texts.pop() as string))
    else texts.push(text)
  })
  return texts
}
