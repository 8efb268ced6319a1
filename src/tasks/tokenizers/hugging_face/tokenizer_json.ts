// Reads and checks a Hugging Face tokenizer.json: https://huggingface.co/docs/tokenizers.

import { foreignText, foreignWords } from '../../../formats/first_bytes.ts'
import { isObject } from '../../../formats/json.ts'

/** A file of a tokenizer that cannot be used; the message names the file and the field. */
export class TokenizerFileError extends Error {
  override readonly name = 'TokenizerFileError'
}

/** One part of the file, such as a normalizer: its type and whatever that type needs. */
export interface Part {
  readonly type: string
  readonly [field: string]: unknown
}

/** A token that is found in texts before the model splits them. */
export interface AddedToken {
  readonly id: number
  readonly content: string
  readonly single_word: boolean
  readonly lstrip: boolean
  readonly rstrip: boolean
  readonly normalized: boolean
  /** No text: left out by skip_special_tokens. */
  readonly special: boolean
}

/** The whole file. */
export interface TokenizerJson {
  readonly normalizer: Part | null
  readonly pre_tokenizer: Part | null
  readonly post_processor: Part | null
  readonly decoder: Part | null
  readonly model: Part
  readonly added_tokens: readonly AddedToken[]
  /** The entry of every id of model and added tokens, as the file writes it; ids from 0 on without
   * holes. */
  readonly entries: readonly string[]
}

/** The largest file that is read, in characters: three times the largest that is known (Gemma 3 has
 * 33 million). */
const MOST_CHARACTERS = 100_000_000
const MODELS = ['BPE', 'Unigram', 'WordPiece', 'WordLevel']

type Refuse = (what: string) => TokenizerFileError

/** A record in JSON. Throws TokenizerFileError for a text that is none. */
export function parseRecord(text: string, file: string): Readonly<Record<string, unknown>> {
  if (text.length > MOST_CHARACTERS)
    throw new TokenizerFileError(
      `${file}: expected at most ${MOST_CHARACTERS} characters, found ${text.length}`,
    )
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    const found = foreignText(text)
    throw new TokenizerFileError(
      `${file}: expected JSON, found ${found ? foreignWords(found) : 'a text that is none'}`,
    )
  }
  if (isObject(json)) return json
  throw new TokenizerFileError(`${file}: expected an object {…}, found another value`)
}

/** Throws TokenizerFileError for a file that is no tokenizer, or whose ids do not name one text
 * each. */
export function parseTokenizerJson(text: string, file = 'tokenizer.json'): TokenizerJson {
  const refuse: Refuse = (what) => new TokenizerFileError(`${file}: ${what}`)
  const json = parseRecord(text, file)
  const model = modelOf(json, refuse)
  const added_tokens = addedTokens(json.added_tokens, refuse)
  const part = (name: string): Part | null => {
    const value = json[name] ?? null
    if (value === null || (isObject(value) && typeof value.type === 'string'))
      return value as Part | null
    throw refuse(`${name}: expected an object with a type, or null`)
  }
  return {
    model,
    added_tokens,
    normalizer: part('normalizer'),
    pre_tokenizer: part('pre_tokenizer'),
    post_processor: part('post_processor'),
    decoder: part('decoder'),
    entries: entriesOf(model, added_tokens, refuse),
  }
}

/** Files of old versions leave the type out; the vocabulary then says which model it is. */
function modelOf({ model }: Readonly<Record<string, unknown>>, refuse: Refuse): Part {
  if (!isObject(model)) throw refuse('model: expected an object; this file is no tokenizer')
  const type = model.type ?? guessedType(model)
  if (typeof type !== 'string' || !MODELS.includes(type))
    throw refuse(`model.type: expected one of ${MODELS.join(', ')}, found ${type ?? 'none'}`)
  if (type === 'BPE') requireMerges(model, refuse)
  return { ...model, type }
}

const guessedType = ({ vocab, merges }: Readonly<Record<string, unknown>>) =>
  Array.isArray(vocab) ? 'Unigram' : Array.isArray(merges) ? 'BPE' : undefined

function requireMerges({ merges, vocab }: Readonly<Record<string, unknown>>, refuse: Refuse): void {
  if (!Array.isArray(merges)) throw refuse('model.merges: expected a list of pairs')
  const known = isObject(vocab) ? vocab : {}
  merges.forEach((merge: unknown, i) => {
    const pair = typeof merge === 'string' ? merge.split(' ') : merge
    if (!Array.isArray(pair) || pair.length !== 2 || !pair.every((x) => typeof x === 'string'))
      throw refuse(`model.merges[${i}]: expected two tokens, found ${JSON.stringify(merge)}`)
    const missing = [...pair, pair.join('')].find((token) => !Object.hasOwn(known, token))
    if (missing !== undefined)
      throw refuse(`model.merges[${i}]: ${JSON.stringify(missing)} is not in model.vocab`)
  })
}

function addedTokens(list: unknown, refuse: Refuse): readonly AddedToken[] {
  if (list === undefined || list === null) return []
  if (!Array.isArray(list)) throw refuse('added_tokens: expected a list')
  return list.map((one: unknown, i) => {
    if (!isObject(one) || typeof one.content !== 'string' || one.content === '')
      throw refuse(`added_tokens[${i}].content: expected a text`)
    if (!isId(one.id)) throw refuse(`added_tokens[${i}].id: expected an id, found ${one.id}`)
    const { id, content, special } = one
    const flag = (name: string, otherwise = false) => (one[name] ?? otherwise) === true
    return {
      id,
      content,
      special: special === true,
      single_word: flag('single_word'),
      lstrip: flag('lstrip'),
      rstrip: flag('rstrip'),
      normalized: flag('normalized', special !== true),
    }
  })
}

const isId = (id: unknown): id is number =>
  typeof id === 'number' && Number.isInteger(id) && id >= 0

/** Python gives added tokens ids of its own where those of the file leave holes, so such a file
 * means two things. */
function entriesOf(model: Part, added: readonly AddedToken[], refuse: Refuse): readonly string[] {
  const entries: string[] = []
  const ids = new Map<string, number>()
  const put = (token: string, id: unknown, where: string) => {
    if (!isId(id))
      throw refuse(`${where}: expected an id for ${JSON.stringify(token)}, found ${id}`)
    const known = ids.get(token)
    if (known !== undefined && known !== id)
      throw refuse(
        `${where}: expected one id for ${JSON.stringify(token)}, found ${known} and ${id}`,
      )
    if (entries[id] !== undefined && entries[id] !== token)
      throw refuse(
        `${where}: expected one token for id ${id}, found ${JSON.stringify(entries[id])} and ${JSON.stringify(token)}`,
      )
    ids.set(token, id)
    entries[id] = token
  }
  for (const [token, id] of vocabularyEntries(model, refuse)) put(token, id, 'model.vocab')
  for (const { content, id } of added) put(content, id, 'added_tokens')
  if (ids.size === 0) throw refuse('model.vocab: expected tokens, found none')
  if (ids.size < entries.length) {
    let hole = 0
    while (entries[hole] !== undefined) hole++
    throw refuse(
      `model.vocab: expected every id from 0 to ${entries.length - 1}, ${hole} is missing`,
    )
  }
  return entries
}

function vocabularyEntries({ type, vocab }: Part, refuse: Refuse): [string, unknown][] {
  if (type !== 'Unigram') {
    if (isObject(vocab)) return Object.entries(vocab)
    throw refuse('model.vocab: expected an object of tokens and their ids')
  }
  if (!Array.isArray(vocab)) throw refuse('model.vocab: expected a list of tokens and their scores')
  return vocab.map((one: unknown, id) => {
    if (!Array.isArray(one) || typeof one[0] !== 'string' || !Number.isFinite(one[1]))
      throw refuse(`model.vocab[${id}]: expected a token and its score`)
    return [one[0], id]
  })
}
