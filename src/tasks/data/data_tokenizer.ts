// Lists the choices of a tokenizer for a data set, and what is known of one before its rows are
// here. make_tokenizer.ts makes it.

import { arithmetic } from '../tokenizers/arithmetic.ts'
import { EOS_TOKEN, PAD_TOKEN } from '../tokenizers/characters.ts'
import { letters } from '../tokenizers/letters.ts'
import type { Tokenizer } from '../tokenizers/tokenizer.ts'

/** What each choice is called. */
export const DATA_TOKENIZERS = {
  arithmetic: 'digits and signs',
  letters: 'small letters and digits',
  characters: 'the characters of the data',
  bpe: 'pieces of words, learnt from the data',
  file: 'a tokenizer.json',
} as const
export type DataTokenizer = keyof typeof DATA_TOKENIZERS

/** A vocabulary that needs no texts; undefined where the texts or a file decide it. */
export function ownTokenizer(tokenizer: DataTokenizer): Tokenizer | undefined {
  if (tokenizer === 'arithmetic') return arithmetic
  return tokenizer === 'letters' ? letters : undefined
}

/** A tokenizer of so many tokens before the rows are here: it knows its sizes and encodes
 * nothing. */
export function unknownTokenizer(vocab_size: number, refuse: () => never): Tokenizer {
  const unknown = Array.from({ length: vocab_size - 2 }, () => '�')
  return {
    tokens: [PAD_TOKEN, EOS_TOKEN, ...unknown],
    vocab_size,
    pad_token_id: 0,
    eos_token_id: 1,
    eos_token_ids: [1],
    special_ids: new Set([0, 1]),
    isUnknown: true,
    specialIn: refuse,
    unknownIn: refuse,
    encode: refuse,
    decode: refuse,
  }
}
