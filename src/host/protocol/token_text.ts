// Writes tokens and texts for people: special tokens and whitespace that could be missed get a
// visible sign.
import { EOS_TOKEN, PAD_TOKEN } from '../../tasks/tokenizers/characters.ts'

const WHITESPACE: Readonly<Record<string, readonly [sign: string, words: string]>> = {
  ' ': ['␣', 'space'],
  '\n': ['↵', 'new line'],
  '\r': ['␍', 'carriage return'],
  '\t': ['⇥', 'tab'],
}

const SPECIAL: Readonly<Record<string, readonly [sign: string, words: string]>> = {
  [EOS_TOKEN]: ['∎', 'end'],
  [PAD_TOKEN]: ['∅', 'padding'],
  // As Qwen's template and the lab's own folders call it.
  '<|im_end|>': ['∎', 'end'],
}

/** What the signs mean, for a legend. */
export const SIGNS_SAY = '∎ end, ∅ padding, ␣ space, ↵ new line'

/** Characters that show nothing, or change the text beside them: controls, formats, other spaces;
 * not the joiners of emoji. */
const INVISIBLE =
  /(?!\u200d)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|(?<!\p{Extended_Pictographic}|\ufe0f|[\u{1f3fb}-\u{1f3ff}])\u200d|(?! )\p{Zs}/gu
/** A token that is a part of a character, as vocabularies write its bytes. */
const BYTES = /^(?:<0x[0-9A-F]{2}>)+$/

/** Three words apart by one space each: a text that is read, as a story is. */
const PROSE = /\S \S+ \S/
/** A space between words, and the one that prose begins with. */
const BETWEEN = /(?<=\S) (?=\S)/g
const BETWEEN_AND_FIRST = /(?<=\S|^) (?=\S)/g

/** A text: what cannot be seen is replaced by a sign or its number. A space between words can be
 * seen. */
export const shownText = (text: string): string =>
  text
    .split(PROSE.test(text) ? BETWEEN_AND_FIRST : BETWEEN)
    .map(withSigns)
    .join(' ')

/** With a sign or a number for all that cannot be seen. */
const withSigns = (text: string): string =>
  text
    .replaceAll(PAD_TOKEN, SPECIAL[PAD_TOKEN][0])
    .replaceAll(/[ \n\r\t]/g, (character) => WHITESPACE[character][0])
    .replaceAll(INVISIBLE, (character) => `⟨${codePoint(character)}⟩`)

const codePoint = (character: string) =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`

/** A token in a column or a box that has room for one sign. Bytes that are no text are written as
 * numbers. */
export const tokenSign = (token: string): string => {
  if (Object.hasOwn(SPECIAL, token)) return SPECIAL[token][0]
  if (BYTES.test(token))
    return bytesOf(token)
      .map((byte) => `0x${byte}`)
      .join(' ')
  const shown = withSigns(token)
  return /^\p{M}/u.test(shown) ? `◌${shown}` : shown
}

/** A token in words, for those who hear it. */
export const tokenWords = (token: string): string => {
  if (Object.hasOwn(SPECIAL, token)) return SPECIAL[token][1]
  if (BYTES.test(token)) return `byte ${bytesOf(token).join(' ')}`
  return token.replaceAll(/[ \n\r\t]/g, (character, index: number) => {
    // A space before a word is how most vocabularies begin words; alone or elsewhere it is the
    // token.
    const [, words] = WHITESPACE[character]
    return `${index > 0 ? ' ' : ''}${words}${index + 1 < token.length ? ' ' : ''}`
  })
}

/** What is known of a token: its text with its spaces, its id and its bytes. `id` is undefined
 * where the vocabulary lacks it. */
export function tokenTitle(token: string, id: number | undefined, isSpecial: boolean): string {
  if (isSpecial)
    return id === undefined ? `${token}, a special token` : `${token}, a special token, id ${id}`
  const isBytes = BYTES.test(token)
  const name = isBytes ? 'a part of a character' : JSON.stringify(token)
  const bytes = (isBytes ? bytesOf(token) : Array.from(new TextEncoder().encode(token), hex)).join(
    ' ',
  )
  return id === undefined ? `${name}, bytes ${bytes}` : `${name}, bytes ${bytes}, id ${id}`
}

/** Bytes that are no text alone, as two hexadecimal digits each. */
const bytesOf = (token: string): string[] =>
  Array.from(token.matchAll(/<0x(..)>/g), ([, byte]) => byte)

export const isBytes = (token: string): boolean => BYTES.test(token)

const hex = (byte: number) => byte.toString(16).toUpperCase().padStart(2, '0')

/** Whether a response, as text or as tokens, holds padding that the policy sampled: such a text
 * does not read back as these tokens. */
export const holdsPadding = (response: string | readonly string[]): boolean =>
  response.includes(PAD_TOKEN)
