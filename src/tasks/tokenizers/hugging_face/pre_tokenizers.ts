// Cuts a text into words as a Hugging Face tokenizer does before its model splits them: one
// function for each type.
import { GPT2_PATTERN, toByteSigns } from './byte_level.ts'
import { running } from './pattern_guard.ts'
import { behaviorOf, patternOf, split, whereOf } from './pieces.ts'
import { type Part, TokenizerFileError } from './tokenizer_json.ts'

/** Cuts a piece of a text; `isFirst` says that the piece begins the text. */
export type PreTokenize = (piece: string, isFirst: boolean) => string[]

const WORD = String.raw`\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}`
const WORDS = new RegExp(String.raw`[${WORD}]+|[^${WORD}\p{White_Space}]+`, 'gu')
const SPACE = /\p{White_Space}/gu
const PUNCTUATION = /[\p{P}!-/:-@[-`{-~]/gu

const MAKERS: Readonly<Record<string, (part: Part) => PreTokenize>> = {
  ByteLevel: byteLevel,
  Metaspace: metaspace,
  Split: (part) => {
    const [pattern, behavior, where] = [patternOf(part), behaviorOf(part), whereOf(part)]
    return (piece) => {
      running(where)
      return split(piece, pattern, behavior, part.invert === true)
    }
  },
  Digits: ({ individual_digits }) => {
    const behavior = individual_digits ? 'Isolated' : 'Contiguous'
    return (piece) => split(piece, /\p{N}/gu, behavior)
  },
  Punctuation: (part) => {
    const behavior = behaviorOf(part)
    return (piece) => split(piece, PUNCTUATION, behavior)
  },
  Whitespace: () => (piece) => split(piece, WORDS, 'Removed', true),
  WhitespaceSplit: () => (piece) => split(piece, SPACE, 'Removed'),
  BertPreTokenizer: () => (piece) =>
    split(piece, SPACE, 'Removed').flatMap((word) => split(word, PUNCTUATION, 'Isolated')),
  CharDelimiterSplit: ({ delimiter }) => {
    const pattern = patternOf({ type: 'CharDelimiterSplit', pattern: { String: delimiter } })
    return (piece) => split(piece, pattern, 'Removed')
  },
  FixedLength: ({ length }) => {
    const pattern = new RegExp(`[\\s\\S]{1,${Number(length)}}`, 'gu')
    return (piece) => split(piece, pattern, 'Isolated')
  },
  Sequence: ({ pretokenizers }) => {
    const steps = (pretokenizers as readonly Part[]).map(preTokenizerOf)
    return (piece, isFirst) =>
      steps.reduce(
        (pieces, step) => pieces.flatMap((one, i) => step(one, isFirst && i === 0)),
        [piece],
      )
  },
}

/** Throws TokenizerFileError for a type that cannot be followed exactly. */
export function preTokenizerOf(part: Part | null): PreTokenize {
  if (!part) return (piece) => [piece]
  const make = Object.hasOwn(MAKERS, part.type) ? MAKERS[part.type] : undefined
  if (make) return make(part)
  throw new TokenizerFileError(
    `tokenizer.json: pre_tokenizer: expected one of ${Object.keys(MAKERS).join(', ')}, found ${part.type}, which this lab does not follow`,
  )
}

function byteLevel({ add_prefix_space, use_regex }: Part): PreTokenize {
  return (piece) => {
    const text = (add_prefix_space ?? true) && !piece.startsWith(' ') ? ` ${piece}` : piece
    const words = (use_regex ?? true) ? split(text, GPT2_PATTERN, 'Isolated') : [text]
    return words.map(toByteSigns)
  }
}

/** Spaces become ▁, and each ▁ begins a word. Files of old versions say add_prefix_space instead of
 * prepend_scheme. */
function metaspace(part: Part): PreTokenize {
  const { replacement = '▁', split: isSplit = true } = part
  const scheme = part.prepend_scheme ?? (part.add_prefix_space === false ? 'never' : 'always')
  const sign = `${replacement}`
  const pattern = patternOf({ type: 'Metaspace', pattern: { String: sign } })
  return (piece, isFirst) => {
    const text = piece.replaceAll(' ', sign)
    const isPrefixed = scheme === 'always' || (scheme === 'first' && isFirst)
    const whole = isPrefixed && !text.startsWith(sign) ? sign + text : text
    return isSplit ? split(whole, pattern, 'MergedWithNext') : [whole]
  }
}
