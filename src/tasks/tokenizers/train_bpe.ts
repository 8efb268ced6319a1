// Trains a byte-pair encoding on texts: the same merges in the same order as Hugging Face's
// BpeTrainer.
//
// Texts are cut into words (GPT-2's pattern) and words into bytes. The most frequent pair of
// neighbours becomes a token, again and again. Counts are kept up to date: a merge looks only at
// the words that hold its pair.
import { EOS_TOKEN, PAD_TOKEN } from './characters.ts'
import { BYTE_SIGNS, GPT2_PATTERN, toByteSigns } from './hugging_face/byte_level.ts'
import type { TokenizerFiles } from './hugging_face/tokenizer_files.ts'
import { type CountedPair, PairHeap } from './pair_heap.ts'

/** Padding, the end token and one token for each byte. */
export const SMALLEST_BPE = 2 + 256
/** Pairs of ids are counted under one number. */
export const LARGEST_BPE = 65_536

export interface BpeOptions {
  /** Tokens in all. There are fewer where the texts have no further pair. */
  readonly vocab_size: number
  /** Is told the share of the vocabulary that is made, about a hundred times; false ends the
   * training with undefined. */
  readonly onProgress?: (share: number) => boolean
}

/** A word as ids of tokens, and how often it occurs. */
interface Word {
  ids: number[]
  readonly count: number
}

interface Vocabulary {
  readonly tokens: string[]
  readonly ids: Map<string, number>
  readonly merges: [left: string, right: string][]
}

/** The files of a tokenizer trained on `texts`, as transformers reads them; undefined where
 * `onProgress` ended it. Throws RangeError for a size that is impossible, and for texts without a
 * character. */
export function trainBpe(
  texts: Iterable<string>,
  { vocab_size, onProgress }: BpeOptions,
): TokenizerFiles | undefined {
  if (!(Number.isInteger(vocab_size) && vocab_size >= SMALLEST_BPE && vocab_size <= LARGEST_BPE))
    throw new RangeError(
      `bpe: expected a vocabulary of ${SMALLEST_BPE} to ${LARGEST_BPE} tokens, got ${vocab_size}`,
    )
  const vocabulary = bytesAlone()
  const words = wordsOf(texts, vocabulary.ids)
  if (words.length === 0) throw new RangeError('bpe: expected texts to train on, got none')
  const pairs = new Pairs(words)
  const interval = Math.max(1, Math.floor((vocab_size - SMALLEST_BPE) / 100))
  for (let best = pairs.next(); best; best = pairs.next()) {
    if (vocabulary.tokens.length >= vocab_size) break
    pairs.merge(best, put(vocabulary, best))
    const made = vocabulary.tokens.length - SMALLEST_BPE
    if (made % interval === 0 && onProgress?.(made / (vocab_size - SMALLEST_BPE)) === false)
      return undefined
  }
  return filesOf(vocabulary)
}

/** The files of a tokenizer from its merges, one in each line: the two parts with a space between
 * them. */
export function bpeOfMerges(merges: string): TokenizerFiles {
  const vocabulary = bytesAlone()
  for (const line of merges.trimEnd().split('\n')) {
    const [left, right] = line.split(' ').map((part) => vocabulary.ids.get(part))
    if (left === undefined || right === undefined)
      throw new RangeError(`bpe: expected two tokens that were made before, got ${line}`)
    put(vocabulary, { left, right })
  }
  return filesOf(vocabulary)
}

function bytesAlone(): Vocabulary {
  const tokens = [PAD_TOKEN, EOS_TOKEN, ...[...BYTE_SIGNS].sort()]
  return { tokens, ids: new Map(tokens.map((token, id) => [token, id] as const)), merges: [] }
}

/** The id of a merged pair. Two pairs can spell one text: then they share its token. */
function put(
  { tokens, ids, merges }: Vocabulary,
  { left, right }: Pick<CountedPair, 'left' | 'right'>,
): number {
  const [a, b] = [tokens[left], tokens[right]]
  merges.push([a, b])
  const known = ids.get(a + b)
  if (known !== undefined) return known
  ids.set(a + b, tokens.length)
  tokens.push(a + b)
  return tokens.length - 1
}

function wordsOf(texts: Iterable<string>, ids: ReadonlyMap<string, number>): Word[] {
  const counts = new Map<string, number>()
  for (const text of texts)
    for (const [word] of text.toWellFormed().matchAll(GPT2_PATTERN))
      counts.set(word, (counts.get(word) ?? 0) + 1)
  return Array.from(counts, ([word, count]) => ({
    ids: Array.from(toByteSigns(word), (sign) => ids.get(sign) as number),
    count,
  }))
}

/** The words that hold a pair, by its number. */
type Places = Map<number, Set<number>>

const keyOf = (left: number, right: number) => left * LARGEST_BPE + right

/** How often each pair of neighbours occurs, and in which words. Two merges can spell one text and
 * share its token; then a pair can come back after it was merged. Counts and places are kept as
 * Rust's trainer keeps them, so that such a pair has the same rank. */
class Pairs {
  readonly #words: readonly Word[]
  readonly #counts = new Map<number, number>()
  readonly #heap = new PairHeap()

  constructor(words: readonly Word[]) {
    this.#words = words
    const places: Places = new Map()
    words.forEach(({ ids, count }, w) => {
      for (let i = 1; i < ids.length; i++) this.#gain(places, ids[i - 1], ids[i], count, w)
    })
    this.#queue(places)
  }

  /** The most frequent pair. Counts in the heap can be out of date: such an entry is put back with
   * its count of now. */
  next(): CountedPair | undefined {
    for (let first = this.#heap.pop(); first; first = this.#heap.pop()) {
      const count = this.#counts.get(keyOf(first.left, first.right)) ?? 0
      if (count === first.count) return count < 1 ? undefined : first
      this.#heap.push({ ...first, count })
    }
    return undefined
  }

  /** Replaces a pair by one token in the words that hold it. */
  merge({ left, right, words }: CountedPair, merged: number): void {
    const places: Places = new Map()
    for (const w of words) {
      const word = this.#words[w]
      const { count } = word
      const ids: number[] = []
      for (let i = 0; i < word.ids.length; i++) {
        if (word.ids[i] !== left || word.ids[i + 1] !== right) {
          ids.push(word.ids[i])
          continue
        }
        const [before, after] = [ids.at(-1), word.ids[i + 2]]
        if (before !== undefined) {
          this.#lose(before, left, count)
          this.#gain(places, before, merged, count, w)
        }
        if (after !== undefined) {
          this.#lose(right, after, count)
          this.#gain(places, merged, after, count, w)
        }
        ids.push(merged)
        i++
      }
      word.ids = ids
    }
    this.#queue(places)
  }

  #gain(places: Places, left: number, right: number, count: number, w: number): void {
    const key = keyOf(left, right)
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + count)
    const words = places.get(key)
    if (words) words.add(w)
    else places.set(key, new Set([w]))
  }

  #lose(left: number, right: number, count: number): void {
    const key = keyOf(left, right)
    this.#counts.set(key, (this.#counts.get(key) ?? 0) - count)
  }

  #queue(places: Places): void {
    for (const [key, words] of places) {
      const count = this.#counts.get(key) ?? 0
      const [left, right] = [Math.floor(key / LARGEST_BPE), key % LARGEST_BPE]
      if (count > 0) this.#heap.push({ left, right, count, words })
    }
  }
}

/** A pair that was merged again has the rank of the last time. */
function lastOfEach(merges: Vocabulary['merges']): Vocabulary['merges'] {
  const last = new Map<string, [string, string]>()
  for (const merge of merges) {
    last.delete(merge.join(' '))
    last.set(merge.join(' '), merge)
  }
  return [...last.values()]
}

function filesOf({ tokens, ids, merges }: Vocabulary): TokenizerFiles {
  const added = { single_word: false, lstrip: false, rstrip: false, normalized: false }
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true }
  const json = {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: tokens
      .slice(0, 2)
      .map((content, id) => ({ id, content, ...added, special: true })),
    normalizer: null,
    pre_tokenizer: { ...byteLevel, use_regex: true },
    post_processor: null,
    decoder: { ...byteLevel, use_regex: true },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab: Object.fromEntries(ids),
      merges: lastOfEach(merges),
    },
  }
  const config = {
    tokenizer_class: 'PreTrainedTokenizerFast',
    eos_token: EOS_TOKEN,
    pad_token: PAD_TOKEN,
    clean_up_tokenization_spaces: false,
  }
  return {
    'tokenizer.json': `${JSON.stringify(json, null, 2)}\n`,
    'tokenizer_config.json': `${JSON.stringify(config, null, 2)}\n`,
  }
}
