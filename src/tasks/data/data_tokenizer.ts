// The tokenizer of a data set: one of the lab's own vocabularies, or the characters of its texts.
import type { Tokenizer } from '../task.ts'
import { arithmetic } from '../tokenizers/arithmetic.ts'
import { alphabetOf, characters, EOS_TOKEN, PAD_TOKEN } from '../tokenizers/characters.ts'
import { letters } from '../tokenizers/letters.ts'
import { DataFileError } from './data_file.ts'

/** What each choice is called. */
export const DATA_TOKENIZERS = {
  arithmetic: 'digits and signs',
  letters: 'small letters and digits',
  characters: 'the characters of the data',
} as const
export type DataTokenizer = keyof typeof DATA_TOKENIZERS

/** More characters than this are no alphabet to learn from. */
const MOST_CHARACTERS = 8192

/** The tokenizer of these texts. Throws DataFileError for too many different characters. */
export function dataTokenizer(id: DataTokenizer, texts: readonly string[]): Tokenizer {
  if (id === 'arithmetic') return arithmetic
  if (id === 'letters') return letters
  const alphabet = alphabetOf(texts)
  const { length } = [...alphabet]
  if (length === 0) throw new DataFileError('expected texts with characters, found none')
  if (length > MOST_CHARACTERS)
    throw new DataFileError(
      `expected at most ${MOST_CHARACTERS} different characters, found ${length}; choose another tokenizer`,
    )
  return characters(alphabet)
}

/** A tokenizer of so many tokens before the rows are here: it knows its sizes and encodes nothing. */
export function unknownTokenizer(vocab_size: number, refuse: () => never): Tokenizer {
  const unknown = Array.from({ length: vocab_size - 2 }, () => '�')
  return {
    tokens: [PAD_TOKEN, EOS_TOKEN, ...unknown],
    ...{ vocab_size, pad_token_id: 0, eos_token_id: 1 },
    encode: refuse,
    decode: refuse,
  }
}
