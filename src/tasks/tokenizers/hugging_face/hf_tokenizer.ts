// Runs a Hugging Face tokenizer.json: the same ids and the same texts as transformers.
//
// Models and regular expressions are those of @huggingface/tokenizers. Around them everything is
// done here, because that library differs from Rust's tokenizers in what a split does with its
// matches, in Unicode's digits, words and white space, in bytes that are no text, and in unknown
// characters; outside_tokenizers.test.ts compares them. What cannot be followed exactly is refused
// by name.
import { addedTokenFinder, type FindAdded, type Section } from './added_tokens.ts'
import { type Decode, decoderOf } from './decoders.ts'
import { type FindUnknown, modelOf, type SplitWord, unknownOf } from './models.ts'
import { type Normalize, normalizerOf } from './normalizers.ts'
import { guarded } from './pattern_guard.ts'
import { expressionsIn } from './pieces.ts'
import { type PostProcess, postProcessorOf } from './post_processors.ts'
import { type PreTokenize, preTokenizerOf } from './pre_tokenizers.ts'
import type { TokenizerJson } from './tokenizer_json.ts'

/** As transformers names them. */
export interface EncodeOptions {
  /** Adds what the file puts around a text, such as a beginning token. */
  readonly add_special_tokens?: boolean
  /** Special tokens that stand in the text stay the text that they are; else they become their ids,
   * as transformers does. */
  readonly split_special_tokens?: boolean
}

export interface DecodeOptions {
  readonly skip_special_tokens?: boolean
}

export class HfTokenizer {
  readonly json: TokenizerJson
  /** Expressions of the file, which may backtrack; plain texts cannot. */
  readonly #expressions: readonly string[]
  /** Ids that are no text: left out by skip_special_tokens. */
  readonly special_ids: ReadonlySet<number>
  readonly #ids: ReadonlyMap<string, number>
  readonly #findRaw: FindAdded
  readonly #findNormalized: FindAdded
  readonly #normalize: Normalize
  readonly #preTokenize: PreTokenize
  readonly #splitWord: SplitWord
  readonly #unknownIn: FindUnknown
  readonly #postProcess: PostProcess
  readonly #decode: Decode
  /** What tokens are decoded from: a normalized added token comes back as its normalized text. */
  readonly #written: readonly string[]

  /** Throws TokenizerFileError for a part that cannot be followed exactly. */
  constructor(json: TokenizerJson) {
    this.json = json
    this.#expressions = expressionsIn([json.normalizer, json.pre_tokenizer, json.decoder])
    this.#ids = new Map(json.entries.map((entry, id) => [entry, id] as const))
    this.special_ids = new Set(
      json.added_tokens.flatMap(({ id, special }) => (special ? [id] : [])),
    )
    this.#normalize = normalizerOf(json.normalizer)
    this.#preTokenize = preTokenizerOf(json.pre_tokenizer)
    this.#splitWord = modelOf(json.model)
    this.#unknownIn = unknownOf(json.model, this.#splitWord)
    this.#postProcess = postProcessorOf(json.post_processor)
    this.#decode = decoderOf(json.decoder)
    const sought = json.added_tokens.map((token) => ({
      token,
      written: token.normalized
        ? this.#bounded(() => this.#normalize(token.content))
        : token.content,
    }))
    const written = [...json.entries]
    for (const one of sought) written[one.token.id] = one.written
    this.#written = written
    this.#findRaw = addedTokenFinder(sought.filter(({ token }) => !token.normalized))
    this.#findNormalized = addedTokenFinder(sought.filter(({ token }) => token.normalized))
  }

  /** The id of a token as the file writes it; undefined where there is none. */
  idOf(token: string): number | undefined {
    return this.#ids.get(token)
  }

  /** Texts of tokens as transformers' convert_ids_to_tokens gives them. */
  tokensOf(ids: readonly number[]): string[] {
    return ids.map((id) => this.#written[id])
  }

  #bounded<T>(work: () => T): T {
    return this.#expressions.length > 0 ? guarded(work, this.#expressions) : work()
  }

  /** Throws RangeError for a text without tokens, where the vocabulary has no unknown token. */
  encode(text: string, options: EncodeOptions = {}): number[] {
    return this.#bounded(() => this.#encode(text, options))
  }

  #encode(text: string, options: EncodeOptions): number[] {
    const { add_special_tokens = false, split_special_tokens = false } = options
    const ids: number[] = []
    const whole: Section = { text: text.toWellFormed(), id: undefined, is_first: true }
    for (const raw of this.#findRaw(whole, split_special_tokens)) {
      if (raw.id !== undefined) ids.push(raw.id)
      else for (const id of this.#encodeRaw(raw, split_special_tokens)) ids.push(id)
    }
    return [...(add_special_tokens ? this.#postProcess(ids) : ids)]
  }

  *#encodeRaw(raw: Section, split_special_tokens: boolean): Generator<number> {
    for (const word of this.#words(raw, split_special_tokens))
      if (typeof word === 'number') yield word
      else yield* this.#splitWord(word)
  }

  /** The words of a section, and the ids of the added tokens between them. */
  *#words(raw: Section, split_special_tokens: boolean): Generator<string | number> {
    const normalized = { ...raw, text: this.#normalize(raw.text) }
    for (const section of this.#findNormalized(normalized, split_special_tokens)) {
      if (section.id !== undefined) yield section.id
      else
        for (const word of this.#preTokenize(section.text, section.is_first))
          if (word !== '') yield word
    }
  }

  /** What of a text no token stands for, each once: `encode` would write an unknown token for it,
   * or leave it out. */
  unknownIn(text: string): readonly string[] {
    return this.#bounded(() => {
      const found = new Set<string>()
      const whole: Section = { text: text.toWellFormed(), id: undefined, is_first: true }
      for (const raw of this.#findRaw(whole, false)) {
        if (raw.id !== undefined) continue
        for (const word of this.#words(raw, false))
          if (typeof word === 'string') for (const one of this.#unknownIn(word)) found.add(one)
      }
      return [...found]
    })
  }

  /** Ids beyond the vocabulary have no text: a model may have more ids than its tokenizer. */
  decode(ids: ArrayLike<number>, { skip_special_tokens = false }: DecodeOptions = {}): string {
    const tokens: string[] = []
    for (let i = 0; i < ids.length; i++) {
      const token = this.#written[ids[i]]
      if (token !== undefined && !(skip_special_tokens && this.special_ids.has(ids[i])))
        tokens.push(token)
    }
    return this.#bounded(() => this.#decode(tokens).join(''))
  }

  /** The first special token that stands in a text as text; undefined where there is none. */
  specialIn(text: string): string | undefined {
    const whole: Section = { text, id: undefined, is_first: true }
    const found = this.#findRaw(whole, false).find(
      ({ id }) => id !== undefined && this.special_ids.has(id),
    )
    return found?.text
  }
}
