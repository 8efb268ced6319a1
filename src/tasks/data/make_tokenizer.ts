// Makes the tokenizer of a data set from its texts, or from a file of Hugging Face's.

import { alphabetOf, characters } from '../tokenizers/characters.ts'
import type { TokenizerFiles } from '../tokenizers/hugging_face/tokenizer_files.ts'
import { loadTokenizer } from '../tokenizers/load_tokenizer.ts'
import { unpackTokenizer } from '../tokenizers/packed.ts'
import type { Tokenizer } from '../tokenizers/tokenizer.ts'
import { type DataTokenizer, ownTokenizer } from './data_tokenizer.ts'
import { type DataFile, DataFileError } from './table/data_file.ts'

/** Trains a byte-pair encoding: here, or in a worker where a page must not be blocked. */
export type TrainBpe = (texts: readonly string[], vocab_size: number) => Promise<TokenizerFiles>

/** What a tokenizer is made from besides the texts. */
export interface TokenizerSource {
  /** Of the choice `file`: a tokenizer.json, or all files of a tokenizer packed. */
  readonly file?: DataFile | undefined
  readonly trainBpe?: TrainBpe | undefined
  /** Hears the share of the rows whose tokens were counted, now and then. */
  readonly onProgress?: ((share: number) => void) | undefined
}

/** More characters than this are no alphabet to learn from. */
const MOST_CHARACTERS = 8192
/** Tokens of a byte-pair encoding where nobody says how many. */
const USUAL_BPE = 512

/** The tokenizer of these texts. `vocab_size` is how many tokens a byte-pair encoding has, null =
 * the usual number. Throws DataFileError for too many different characters, and for a file that is
 * no tokenizer. */
export async function dataTokenizer(
  {
    tokenizer,
    vocab_size,
  }: { readonly tokenizer: DataTokenizer; readonly vocab_size: number | null },
  texts: readonly string[],
  { file, trainBpe = trainHere }: TokenizerSource = {},
): Promise<Tokenizer> {
  const own = ownTokenizer(tokenizer)
  if (own) return own
  try {
    if (tokenizer === 'bpe')
      return await loadTokenizer(await trainBpe(texts, vocab_size ?? USUAL_BPE))
    if (tokenizer === 'characters') return ofCharacters(texts)
    if (!file) throw new DataFileError('expected a tokenizer.json, found none; give the file')
    return await loadTokenizer(unpackTokenizer(new TextDecoder().decode(file.bytes)))
  } catch (error) {
    const why = error instanceof Error ? error.message : `${error}`
    throw new DataFileError(file ? `${file.name}: ${why}` : why)
  }
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
