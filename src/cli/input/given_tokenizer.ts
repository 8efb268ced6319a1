// Reads --tokenizer of the command line: a vocabulary of the lab, one made from the data, or the
// tokenizer of a Hugging Face folder.
import { existsSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type ContentFile, contentHash } from '../../document/content/content.ts'
import {
  DATA_TOKENIZERS,
  type DataTokenizer,
  ownTokenizer,
} from '../../tasks/data/data_tokenizer.ts'
import {
  TOKENIZER_FILES,
  type TokenizerFiles,
} from '../../tasks/tokenizers/hugging_face/tokenizer_files.ts'
import { loadTokenizer } from '../../tasks/tokenizers/load_tokenizer.ts'
import { packTokenizer } from '../../tasks/tokenizers/packed.ts'
import type { Tokenizer } from '../../tasks/tokenizers/tokenizer.ts'
import { LARGEST_BPE, SMALLEST_BPE } from '../../tasks/tokenizers/train_bpe.ts'
import { LabFailure, UsageError } from '../base/command.ts'
import { reason } from '../base/disk.ts'
import { readText } from './input_file.ts'
import { modelDirectory } from './model_dir.ts'

/** What an experiment says of its tokenizer, and the file that it names. */
export interface GivenTokenizer {
  readonly tokenizer: DataTokenizer
  readonly vocab_size: number | null
  readonly file: ContentFile | undefined
  /** The folder of the model that it belongs to, where nobody named a tokenizer. */
  readonly ofModel?: string
}

const OWN = (Object.keys(DATA_TOKENIZERS) as DataTokenizer[]).filter((id) => id !== 'file')

/** `bpe:512`, a name, a tokenizer.json or the folder that it is in. Throws UsageError or
 * LabFailure. */
export async function givenTokenizer(text: string): Promise<GivenTokenizer> {
  const size = /^bpe:(\d{1,6})$/.exec(text)?.[1]
  if (size !== undefined) {
    const vocab_size = Number(size)
    if (vocab_size >= SMALLEST_BPE && vocab_size <= LARGEST_BPE)
      return { tokenizer: 'bpe', vocab_size, file: undefined }
    throw new UsageError(
      `--tokenizer: expected bpe: and ${SMALLEST_BPE} to ${LARGEST_BPE} tokens, got ${text}`,
    )
  }
  const own = OWN.find((id) => id === text)
  if (own) return { tokenizer: own, vocab_size: null, file: undefined }
  if (!existsSync(text))
    throw new UsageError(
      `--tokenizer: expected a tokenizer.json, its folder, bpe:512 or one of ${OWN.join(', ')}, got '${text}'`,
    )
  return { tokenizer: 'file', vocab_size: null, file: await packedFile(text) }
}

/** What transformers turns into a tokenizer.json where a folder has no such file. */
const SLOW_FILES = ['tokenizer.model', 'spiece.model', 'vocab.json', 'vocab.txt', 'merges.txt']

/** The tokenizer of a model's folder, which reads the rows that the model is trained on; by its
 * name where it is a vocabulary of the lab. Throws ModelFileError for a folder that is none, and
 * LabFailure where there is no tokenizer.json. */
export async function modelTokenizer(folder: string): Promise<GivenTokenizer> {
  modelDirectory(folder)
  if (!existsSync(join(folder, 'tokenizer.json')))
    throw new LabFailure(noTokenizer('--model', folder))
  const found = await loadTokenizer(tokenizerFiles(folder)).catch((error) => {
    throw new LabFailure(`--model: ${folder}: ${reason(error)}`)
  })
  const own = OWN.find((id) => isSame(ownTokenizer(id), found))
  if (own) return { tokenizer: own, vocab_size: null, file: undefined }
  return { tokenizer: 'file', vocab_size: null, file: await packedFile(folder), ofModel: folder }
}

/** The same texts under the same ids. Padding and end have other names outside the lab. */
function isSame(own: Tokenizer | undefined, found: Tokenizer): boolean {
  if (own?.vocab_size !== found.vocab_size) return false
  const { pad_token_id, eos_token_id, tokens } = own
  if (pad_token_id !== found.pad_token_id || eos_token_id !== found.eos_token_id) return false
  return tokens.every((text, id) => own.special_ids.has(id) || text === found.tokens[id])
}

/** Why the ids of a model mean no texts; `option` gave its folder. */
export function noTokenizer(option: string, folder: string): string {
  const slow = SLOW_FILES.filter((name) => existsSync(join(folder, name)))
  const found = slow.length > 0 ? `only ${slow.join(' and ')}` : 'none'
  const remedy =
    slow.length > 0
      ? 'write one with transformers: AutoTokenizer.from_pretrained(DIR).save_pretrained(DIR)'
      : 'put tokenizer.json and tokenizer_config.json of the model there'
  return `${option}: ${folder}: expected the tokenizer of the model, tokenizer.json, found ${found}; ${remedy}`
}

/** The files of one folder as one file of content: the others say which token ends a response, and
 * how messages are written. */
async function packedFile(path: string): Promise<ContentFile> {
  const isFolder = statSync(path).isDirectory()
  const folder = isFolder ? path : dirname(path)
  const main = isFolder ? join(path, 'tokenizer.json') : path
  if (!existsSync(main)) throw new LabFailure(`--tokenizer: ${main}: expected a file, found none`)
  const bytes = new TextEncoder().encode(packTokenizer(tokenizerFiles(folder, main)))
  const name = basename(isFolder ? join(process.cwd(), path) : main)
  return { hash: await contentHash(bytes), name, bytes }
}

/** The files of a folder that belong to its tokenizer. Throws LabFailure for one that cannot be
 * read. */
export function tokenizerFiles(
  folder: string,
  main = join(folder, 'tokenizer.json'),
): TokenizerFiles {
  const others = TOKENIZER_FILES.filter(
    (name) => name !== 'tokenizer.json' && existsSync(join(folder, name)),
  )
  const texts = others.map((name) => [name, readText(join(folder, name))] as const)
  return { 'tokenizer.json': readText(main), ...Object.fromEntries(texts) }
}
