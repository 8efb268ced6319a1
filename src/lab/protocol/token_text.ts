// How tokens and texts are written for people: whitespace and special tokens get a visible sign.
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
}

/** What the signs mean, for a legend. */
export const SIGNS_SAY = '∎ end, ∅ padding, ␣ space, ↵ new line'

/** A text, or a token that has room for its name: only its whitespace is replaced. */
export const shownText = (text: string): string =>
  text.replaceAll(/[ \n\r\t]/g, (character) => WHITESPACE[character][0])

/** A token in a column or a box that has room for one sign. */
export const tokenSign = (token: string): string => SPECIAL[token]?.[0] ?? shownText(token)

/** A token in words, for those who hear it. */
export const tokenWords = (token: string): string =>
  (SPECIAL[token] ?? WHITESPACE[token])?.[1] ?? token

/** Whether a response, as text or as tokens, holds padding that the policy sampled: such a text does not read back as these tokens. */
export const holdsPadding = (response: string | readonly string[]): boolean =>
  response.includes(PAD_TOKEN)
