// Declares a tokenizer: a task brings one, and everything else takes it.
import type { RenderChat } from './hugging_face/chat_template.ts'
import type { DecodeOptions, EncodeOptions } from './hugging_face/hf_tokenizer.ts'
import type { TokenizerFiles } from './hugging_face/tokenizer_files.ts'

/** Text to token ids and back. */
export interface Tokenizer {
  /** Text of every id; special tokens by their names, such as <eos>. A token that is a part of a
   * character is its bytes, <0xE2>. There can be 160,000, so it is read where it is needed. */
  readonly tokens: readonly string[]
  readonly vocab_size: number
  /** Whether only the size is known, because the files are not loaded: then tokens have no texts,
   * and nothing is encoded. */
  readonly isUnknown?: true
  readonly pad_token_id: number
  /** The end token that demonstrations end with. */
  readonly eos_token_id: number
  /** Every token that ends a response, that one first: Hugging Face's eos_token_id may be a
   * list. */
  readonly eos_token_ids: readonly number[]
  /** Ids that are no text: padding, ends, and what marks the turns of a conversation. */
  readonly special_ids: ReadonlySet<number>
  /** Names of special tokens in the text become their ids, as in transformers: a rendered
   * conversation is encoded so. Throws RangeError naming what is not in the vocabulary. */
  encode(text: string, options?: EncodeOptions): number[]
  /** Stops at the first end token. A padding token before it shows by its name, because a policy
   * may sample one; so does an id that no token has, of a model with more rows. */
  decode(ids: ArrayLike<number>, options?: DecodeOptions): string
  /** The first special token whose name stands in a text; undefined where there is none. Rows of
   * data that hold one are refused. */
  specialIn(text: string): string | undefined
  /** What of a text no token stands for, each once: characters, or whole words where tokens are
   * words. `encode` would lose it. */
  unknownIn(text: string): readonly string[]
  /** Messages as the model reads them; absent where there is no chat template. */
  readonly renderChat?: RenderChat
  /** The files that transformers reads; absent where the lab writes them from the characters. */
  readonly files?: TokenizerFiles
}
