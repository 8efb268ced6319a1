// Tokens as one sign each, where a column or a coloured box is all the room there is.
import { EOS_TOKEN, PAD_TOKEN } from '../../lab/protocol/vocabulary.ts'
import { tokenText } from './stages/columns.ts'

const SIGNS: Readonly<Record<string, string>> = {
  [EOS_TOKEN]: '∎',
  [PAD_TOKEN]: '∅',
  '\n': '↵',
  '\t': '⇥',
}

/** A token as it is written in a box; what is not visible gets a sign. */
export const tokenSign = (token: string): string => SIGNS[token] ?? tokenText(token)

/** A token in words, for those who hear it. */
export function tokenWords(token: string): string {
  if (token === EOS_TOKEN) return 'end'
  if (token === PAD_TOKEN) return 'padding'
  return token === ' ' ? 'space' : token
}

export const SIGNS_SAY = '∎ end, ∅ padding, ␣ space'
