// Reads the vocabulary of a Hugging Face tokenizer.json whose model is a list of whole words: one
// id for every text.
import { foreignText, foreignWords } from '../../formats/first_bytes.ts'
import { DataFileError } from './table/data_file.ts'

/** Ids to text and what they stand for. */
export interface Vocabulary {
  /** The text of every id below its size; special tokens by their names. */
  readonly tokens: readonly string[]
  readonly special_ids: ReadonlySet<number>
  /** The text of ids, special tokens left out, as transformers decodes with skip_special_tokens. */
  readonly decode: (ids: ArrayLike<number>) => string
}

interface TokenizerJson {
  readonly model: { readonly type: string; readonly vocab: Readonly<Record<string, number>> }
  readonly added_tokens?: readonly { readonly id: number; readonly special: boolean }[]
}

/** Throws DataFileError for a tokenizer of another kind. */
export function readVocabulary(text: string, file: string): Vocabulary {
  const refuse = (what: string) => new DataFileError(`${file}: ${what}`)
  let json: TokenizerJson
  try {
    json = JSON.parse(text) as TokenizerJson
  } catch {
    const found = foreignText(text)
    throw refuse(`expected a tokenizer in JSON${found ? `, found ${foreignWords(found)}` : ''}`)
  }
  const { type, vocab } = json?.model ?? {}
  if (type !== 'WordLevel' || typeof vocab !== 'object' || vocab === null)
    throw refuse(`model.type: expected WordLevel, one id for every text; found ${type ?? 'none'}`)
  const tokens: string[] = []
  for (const [token, id] of Object.entries(vocab)) tokens[id] = token
  if (Object.keys(tokens).length !== tokens.length)
    throw refuse('model.vocab: expected every id from 0 on once')
  const special = (json.added_tokens ?? []).flatMap((one) => (one.special ? [one.id] : []))
  const special_ids = new Set(special)
  const decode = (ids: ArrayLike<number>) =>
    Array.from(ids, (id) => (special_ids.has(id) ? '' : (tokens[id] ?? ''))).join('')
  return { tokens, special_ids, decode }
}
