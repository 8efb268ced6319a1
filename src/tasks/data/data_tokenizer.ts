// The tokenizer of a data set: one of the lab's own vocabularies, one made from its texts, or a file of Hugging Face's.
import type { Tokenizer } from '../task.ts'
import { arithmetic } from '../tokenizers/arithmetic.ts'
import { alphabetOf, characters, EOS_TOKEN, PAD_TOKEN } from '../tokenizers/characters.ts'
import type { TokenizerFiles } from '../tokenizers/hugging_face/tokenizer_files.ts'
import { letters } from '../tokenizers/letters.ts'
import { loadTokenizer } from '../tokenizers/load_tokenizer.ts'
import { unpackTokenizer } from '../tokenizers/packed.ts'
import { type DataFile, DataFileError } from './table.ts'

/** What each choice is called. */
export const DATA_TOKENIZERS = {
  arithmetic: 'digits and signs',
  letters: 'small letters and digits',
  characters: 'the characters of the data',
  bpe: 'pieces of words, learnt from the data',
  file: 'a tokenizer.json',
} as const
export type DataTokenizer = keyof typeof DATA_TOKENIZERS

/** Trains a byte-pair encoding: here, or in a worker where a page must not stand still. */
export type TrainBpe = (texts: readonly string[], vocab_size: number) => Promise<TokenizerFiles>

/** What a tokenizer is made from besides the texts. */
export interface TokenizerSource {
  /** Of the choice `file`: a tokenizer.json, or all files of a tokenizer packed. */
  readonly file?: DataFile | undefined
  readonly trainBpe?: TrainBpe | undefined
}

/** More characters than this are no alphabet to learn from. */
const MOST_CHARACTERS = 8192
/** Tokens of a byte-pair encoding where nobody says how many. */
const USUAL_BPE = 512

/**
 * The tokenizer of these texts. `vocab_size` is how many tokens a byte-pair encoding has, 0 = the usual number. Throws DataFileError for
 * too many different characters, and for a file that is no tokenizer.
 */
export async function dataTokenizer(
  { tokenizer, vocab_size }: { readonly tokenizer: DataTokenizer; readonly vocab_size: number },
  texts: readonly string[],
  { file, trainBpe = trainHere }: TokenizerSource = {},
): Promise<Tokenizer> {
  const own = ownTokenizer(tokenizer)
  if (own) return own
  try {
    if (tokenizer === 'bpe')
      return await loadTokenizer(await trainBpe(texts, vocab_size || USUAL_BPE))
    if (tokenizer === 'characters') return ofCharacters(texts)
    if (!file) throw new DataFileError('expected a tokenizer.json, found none; give the file')
    return await loadTokenizer(unpackTokenizer(new TextDecoder().decode(file.bytes)))
  } catch (error) {
    const why = error instanceof Error ? error.message : `${error}`
    throw new DataFileError(file ? `${file.name}: ${why}` : why)
  }
}

/** A vocabulary that needs no texts; undefined where the texts or a file decide it. */
export function ownTokenizer(tokenizer: DataTokenizer): Tokenizer | undefined {
  if (tokenizer === 'arithmetic') return arithmetic
  return tokenizer === 'letters' ? letters : undefined
}

const trainHere: TrainBpe = async (texts, vocab_size) => {
  const { trainBpe } = await import('../tokenizers/train_bpe.ts')
  const files = trainBpe(texts, { vocab_size })
  if (files) return files
  throw new DataFileError('the training of the tokenizer was ended')
}

function ofCharacters(texts: readonly string[]): Tokenizer {
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
    ...{ vocab_size, pad_token_id: 0, eos_token_id: 1, eos_token_ids: [1] },
    special_ids: new Set([0, 1]),
    is_unknown: true,
    specialIn: refuse,
    encode: refuse,
    decode: refuse,
  }
}
