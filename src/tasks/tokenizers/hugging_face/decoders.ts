// Turns tokens back into a text as a Hugging Face tokenizer does: one function for each type of
// decoder.
import { bytesOfSigns, fromUtf8 } from './byte_level.ts'
import { replaced } from './pattern_guard.ts'
import { patternOf, whereOf } from './pieces.ts'
import { type Part, TokenizerFileError } from './tokenizer_json.ts'

/** From tokens to pieces of a text, which are joined without anything between them. */
export type Decode = (tokens: readonly string[]) => readonly string[]

const MAKERS: Readonly<Record<string, (part: Part) => Decode>> = {
  ByteLevel: () => (tokens) => [fromUtf8(tokens.flatMap(bytesOfSigns))],
  ByteFallback: () => byteFallback,
  Fuse: () => (tokens) => [tokens.join('')],
  Metaspace: metaspace,
  Replace: (part) => {
    const [pattern, content, where] = [patternOf(part), `${part.content ?? ''}`, whereOf(part)]
    return (tokens) => tokens.map((token) => replaced(token, pattern, content, where))
  },
  Strip: strip,
  WordPiece: wordPiece,
  BPEDecoder:
    ({ suffix = '</w>' }) =>
    (tokens) =>
      tokens.map((token, i) => token.replaceAll(`${suffix}`, i === tokens.length - 1 ? '' : ' ')),
  Sequence: ({ decoders }) => {
    const steps = (decoders as readonly Part[]).map(decoderOf)
    return (tokens) => steps.reduce((now, step) => step(now), tokens)
  },
}

/** Throws TokenizerFileError for a type that cannot be followed exactly. Without a decoder, tokens
 * are joined by spaces. */
export function decoderOf(part: Part | null): Decode {
  if (!part) return (tokens) => [tokens.join(' ')]
  const make = Object.hasOwn(MAKERS, part.type) ? MAKERS[part.type] : undefined
  if (make) return make(part)
  throw new TokenizerFileError(
    `tokenizer.json: decoder: expected one of ${Object.keys(MAKERS).join(', ')}, found ${part.type}, which this lab does not follow`,
  )
}

/** The byte that a token such as <0xE2> stands for; undefined for other tokens. */
export function byteOfToken(token: string): number | undefined {
  const hex = /^<0x([0-9A-Fa-f]{2})>$/.exec(token)?.[1]
  return hex === undefined ? undefined : Number.parseInt(hex, 16)
}

/** Neighbouring byte tokens are one text; where it is no UTF-8, each of them is U+FFFD. */
const byteFallback: Decode = (tokens) => {
  const pieces: string[] = []
  let bytes: number[] = []
  const flush = () => {
    const text = fromUtf8(bytes)
    const isWhole = !text.includes('\ufffd') || isReplacementText(bytes)
    if (bytes.length > 0) pieces.push(isWhole ? text : '\ufffd'.repeat(bytes.length))
    bytes = []
  }
  for (const token of tokens) {
    const byte = byteOfToken(token)
    if (byte !== undefined) bytes.push(byte)
    else {
      flush()
      pieces.push(token)
    }
  }
  flush()
  return pieces
}

/** Whether bytes are valid although their text has a U+FFFD: then it is written out in them. */
function isReplacementText(bytes: readonly number[]): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(bytes))
    return true
  } catch {
    return false
  }
}

/** ▁ is a space, except in the first token, where the prefix that the pre-tokenizer added is left
 * out. */
function metaspace(part: Part): Decode {
  const sign = `${part.replacement ?? '▁'}`
  const scheme = part.prepend_scheme ?? (part.add_prefix_space === false ? 'never' : 'always')
  return (tokens) =>
    tokens.map((token, i) => token.replaceAll(sign, i === 0 && scheme !== 'never' ? '' : ' '))
}

function strip({ content = ' ', start = 0, stop = 0 }: Part): Decode {
  return (tokens) =>
    tokens.map((token) => {
      const characters = [...token]
      let from = 0
      while (from < Number(start) && characters[from] === content) from++
      let to = characters.length
      while (characters.length - to < Number(stop) && characters[to - 1] === content) to--
      return characters.slice(from, Math.max(from, to)).join('')
    })
}

function wordPiece({ prefix = '##', cleanup = true }: Part): Decode {
  return (tokens) =>
    tokens.map((token, i) => {
      const isContinued = token.startsWith(`${prefix}`)
      const text = i === 0 ? token : isContinued ? token.slice(`${prefix}`.length) : ` ${token}`
      return cleanup ? cleanedUp(text) : text
    })
}

const CLEANED = [
  ...[' .', ' ?', ' !', ' ,'].map((mark) => [mark, mark.slice(1)]),
  [" ' ", "'"],
  [" n't", "n't"],
  [" 'm", "'m"],
  [' do not', " don't"],
  ...[" 's", " 've", " 're"].map((end) => [end, end.slice(1)]),
]

/** A text without the spaces that English does not write (Rust's cleanup of WordPiece). */
const cleanedUp = (text: string): string =>
  CLEANED.reduce((now, [from, to]) => now.replaceAll(from, to), text)
