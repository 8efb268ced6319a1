// Splits a word into the ids of its tokens as the model of a Hugging Face tokenizer does, through
// @huggingface/tokenizers where that follows Rust's tokenizers exactly.
import { BPE, Unigram, WordPiece } from '@huggingface/tokenizers'
import { utf8 } from './byte_level.ts'
import { type Part, TokenizerFileError } from './tokenizer_json.ts'

/** Ids of the tokens of a word. Throws RangeError for a word without tokens, where the vocabulary
 * has no unknown token. */
export type SplitWord = (word: string) => number[]

/** What of a word no token stands for. */
export type FindUnknown = (word: string) => readonly string[]

type Refuse = (what: string) => TokenizerFileError

/** Throws TokenizerFileError for a kind of model that cannot be followed exactly. */
export function modelOf(model: Part): SplitWord {
  const refuse: Refuse = (what) => new TokenizerFileError(`tokenizer.json: model.${what}`)
  if (model.type === 'BPE') return bpe(model, refuse)
  if (model.type === 'Unigram') return unigram(model, refuse)
  if (model.type === 'WordPiece') return wordPiece(model, refuse)
  return wordLevel(model)
}

/** Ids by token, without the pitfalls of an object's own properties. */
const idsOf = ({ vocab }: Part) => new Map(Object.entries(vocab as Record<string, number>))

const byteTokens = (text: string) =>
  Array.from(utf8(text), (byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`)

function bpe(model: Part, refuse: Refuse): SplitWord {
  if (model.dropout) throw refuse(`dropout: expected none, found ${model.dropout}`)
  for (const name of ['continuing_subword_prefix', 'end_of_word_suffix'])
    if (model[name]) throw refuse(`${name}: expected none, found ${JSON.stringify(model[name])}`)
  const ids = idsOf(model)
  const unk = unknownId(model.unk_token, ids, refuse)
  const library = new BPE(model as unknown as ConstructorParameters<typeof BPE>[0])
  const merged = (text: string) => library.bpe(text).map((token) => ids.get(token) as number)
  const unknown = {
    ids,
    unk,
    isFused: model.fuse_unk === true,
    hasBytes: model.byte_fallback === true,
  }
  return (word) => {
    const whole = model.ignore_merges ? ids.get(word) : undefined
    if (whole !== undefined) return [whole]
    // Rust looks characters up before it merges: one without a token is bytes, unknown, or left
    // out.
    const runs = knownRuns(word, ids)
    if (runs.length === 1 && runs[0].isKnown) return merged(word)
    if (unk !== undefined || unknown.hasBytes) return splitRuns(runs, merged, unknown)
    return merged(runs.map(({ text, isKnown }) => (isKnown ? text : '')).join(''))
  }
}

function unknownId(token: unknown, ids: ReadonlyMap<string, number>, refuse: Refuse) {
  if (token === undefined || token === null) return undefined
  const id = ids.get(`${token}`)
  if (id === undefined) throw refuse(`unk_token: ${JSON.stringify(token)} is not in model.vocab`)
  return id
}

interface Run {
  readonly text: string
  readonly isKnown: boolean
}

/** The longest stretches of characters that all have a token, or all have none. */
function knownRuns(word: string, ids: ReadonlyMap<string, number>): readonly Run[] {
  const runs: { text: string; isKnown: boolean }[] = []
  for (const character of word) {
    const isKnown = ids.has(character)
    const last = runs.at(-1)
    if (last?.isKnown === isKnown) last.text += character
    else runs.push({ text: character, isKnown })
  }
  return runs
}

interface Unknown {
  readonly ids: ReadonlyMap<string, number>
  readonly unk: number | undefined
  /** Neighbouring unknown characters are one unknown token. */
  readonly isFused: boolean
  /** A character without a token is its bytes, <0xE2> …, where the vocabulary has all of them. */
  readonly hasBytes: boolean
}

function splitRuns(
  runs: readonly Run[],
  splitKnown: SplitWord,
  { ids, unk, isFused, hasBytes }: Unknown,
): number[] {
  const out: number[] = []
  for (const { text, isKnown } of runs) {
    if (isKnown) {
      out.push(...splitKnown(text))
      continue
    }
    let isAfterUnknown = false
    for (const character of text) {
      const bytes = hasBytes ? byteTokens(character).map((token) => ids.get(token)) : [undefined]
      const isWhole = bytes.every((id) => id !== undefined)
      if (isWhole) out.push(...bytes)
      else if (unk !== undefined && !(isFused && isAfterUnknown)) out.push(unk)
      isAfterUnknown = !isWhole
    }
  }
  return out
}

function unigram(model: Part, refuse: Refuse): SplitWord {
  const vocab = model.vocab as readonly (readonly [string, number])[]
  const ids = new Map(vocab.map(([token], id) => [token, id] as const))
  const unk = model.unk_id ?? undefined
  if (unk !== undefined && !(typeof unk === 'number' && unk >= 0 && unk < vocab.length))
    throw refuse(`unk_id: expected an id of model.vocab, found ${unk}`)
  const library = new Unigram(
    model as unknown as ConstructorParameters<typeof Unigram>[0],
    // The library asks for an end token and uses it for nothing.
    '',
  )
  return (word) => {
    const out: number[] = []
    let isAfterUnknown = false
    for (const piece of bestPieces(library, word)) {
      const id = ids.get(piece)
      const isUnknown = id === undefined || id === unk
      const bytes = isUnknown && model.byte_fallback ? byteTokens(piece).map((t) => ids.get(t)) : []
      if (!isUnknown) out.push(id)
      else if (bytes.length > 0 && bytes.every((one) => one !== undefined)) out.push(...bytes)
      else if (unk === undefined) throw withoutToken(piece)
      else if (!isAfterUnknown) out.push(unk as number)
      isAfterUnknown = isUnknown
    }
    return out
  }
}

/** The pieces with the largest sum of scores (Viterbi). The library compares sums that have the
 * next piece's score in them, so rounding hides differences that Rust's tokenizers see; only its
 * dictionary and scores are used. */
function bestPieces(library: Unigram, word: string): string[] {
  const characters = Array.from(word)
  const ends: { from: number; score: number }[] = [{ from: 0, score: 0 }]
  const offer = (from: number, to: number, score: number) => {
    const sum = ends[from].score + score
    if (!(to in ends) || sum > ends[to].score) ends[to] = { from, score: sum }
  }
  for (let from = 0; from < characters.length; from++) {
    let isKnown = false
    for (const piece of library.trie.common_prefix_search(characters, from)) {
      const length = Array.from(piece).length
      offer(from, from + length, library.scores[library.tokens_to_ids.get(piece) as number])
      isKnown ||= length === 1
    }
    if (!isKnown) offer(from, from + 1, library.unk_score)
  }
  const pieces: string[] = []
  for (let to = characters.length; to > 0; to = ends[to].from)
    pieces.push(characters.slice(ends[to].from, to).join(''))
  return pieces.reverse()
}

function wordPiece(model: Part, refuse: Refuse): SplitWord {
  const ids = idsOf(model)
  const unk_token = `${model.unk_token ?? '[UNK]'}`
  const unk = unknownId(unk_token, ids, refuse)
  const library = new WordPiece({
    max_input_chars_per_word: 100,
    continuing_subword_prefix: '##',
    ...(model as unknown as ConstructorParameters<typeof WordPiece>[0]),
    unk_token,
  })
  return (word) => library.encode([word]).map((token) => ids.get(token) ?? (unk as number))
}

function wordLevel(model: Part): SplitWord {
  const ids = idsOf(model)
  const unk = ids.get(`${model.unk_token}`)
  return (word) => {
    const id = ids.get(word) ?? unk
    if (id === undefined) throw withoutToken(word)
    return [id]
  }
}

const withoutToken = (text: string) =>
  new RangeError(`encode: expected texts of the vocabulary, got ${JSON.stringify(text)}`)

/** Finds what a model has no token for: characters, or words of a vocabulary of words. `splitWord`
 * is that of the model. */
export function unknownOf(model: Part, splitWord: SplitWord): FindUnknown {
  if (model.type === 'BPE') {
    const ids = idsOf(model)
    const hasBytes = (character: string) =>
      model.byte_fallback === true && byteTokens(character).every((token) => ids.has(token))
    return (word) =>
      model.ignore_merges && ids.has(word)
        ? []
        : Array.from(word).filter((character) => !ids.has(character) && !hasBytes(character))
  }
  const ids = model.type === 'Unigram' ? new Map<string, number>() : idsOf(model)
  const unk = model.type === 'Unigram' ? model.unk_id : ids.get(`${model.unk_token ?? '[UNK]'}`)
  const isUnknown = (word: string) => {
    if (ids.has(word)) return false
    try {
      return splitWord(word).some((id) => id === unk)
    } catch (error) {
      if (error instanceof RangeError) return true
      throw error
    }
  }
  return (word) => {
    if (!isUnknown(word)) return []
    const characters = model.type === 'Unigram' ? Array.from(word).filter(isUnknown) : []
    return characters.length > 0 ? characters : [word]
  }
}
