// Declares a task. Tasks are pure and synchronous: no GPU, no clock, no state.
import type { Json } from './data/rows/cells.ts'
import type { ChatMessage, RenderChat } from './tokenizers/hugging_face/chat_template.ts'
import type { DecodeOptions, EncodeOptions } from './tokenizers/hugging_face/hf_tokenizer.ts'
import type { TokenizerFiles } from './tokenizers/hugging_face/tokenizer_files.ts'

/** Text to token ids and back. */
export interface Tokenizer {
  /** Text of every id; special tokens by their names, such as <eos>. A token that is a part of a
   * character is its bytes, <0xE2>. There can be 160,000, so it is read where it is needed. */
  readonly tokens: readonly string[]
  readonly vocab_size: number
  /** Whether only the size is known, because the files are not loaded: then tokens have no texts,
   * and nothing is encoded. */
  readonly is_unknown?: true
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
   * may sample one. */
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

/** train: draws with repeats. train_set: each training problem once. test: held-out problems. */
export type Split = 'train' | 'train_set' | 'test'

/** One problem. */
export interface Sample {
  readonly prompt: string
  /** The conversation that the prompt writes, where it is one: what a chat template is given. */
  readonly messages?: readonly ChatMessage[]
  /** The right answer, without the end token; '' where there is none. */
  readonly ground_truth: string
  /** The right answer as the row has it, where that is no text: an object or a list, whose JSON
   * `ground_truth` is. Reward programs get it. */
  readonly truth?: Json
  /** Worse answers to the prompt, where rows of a data set have them. */
  readonly rejected?: readonly string[]
  /** What a demonstration shows as the answer; wrong on purpose in some tasks. */
  readonly demonstration: string
  /** What rows of a data set say to reward functions, under verl's names. */
  readonly data_source?: string
  readonly extra_info?: Readonly<Record<string, unknown>>
  /** All columns of a data set's row by their names: TRL's reward functions take them so. */
  readonly columns?: Readonly<Record<string, unknown>>
}

/** One number of a task that a person may change. */
export interface TaskParam {
  readonly name: string
  readonly label: string
  readonly help: string
  readonly default: number
  readonly min: number
  readonly max: number
  readonly step: number
  /** e.g. 'digits', 'share'. */
  readonly unit: string
}

/** An answer that was judged alone. */
export interface TaskVerdict {
  readonly sample: Sample
  readonly response: string
  readonly is_desirable: boolean
}

/** A task with its parameters filled in. */
export interface Task {
  readonly id: string
  /** What a model of this task reads and writes: it decides the size of the model's vocabulary and
   * the special tokens. */
  readonly tokenizer: Tokenizer
  /** Longest prompt and longest answer (end token included), in tokens. */
  readonly max_prompt_length: number
  readonly max_response_length: number
  /** Problems in the held-out split; `sample` takes any index and wraps around. */
  readonly test_size: number
  /** Problems that training draws from; `sample` of split train_set wraps around. */
  readonly train_size: number
  /** Sample `index` of a split: a function of (seed, task and its parameters, index, split)
   * alone. */
  sample(seed: number, index: number, split: Split): Sample
  /** Answers that were judged one by one, in the order of their file; absent where rows are no
   * such. */
  verdicts?(split: Exclude<Split, 'train'>): readonly TaskVerdict[]
  /** Whether the ground truth scores 1 and any other response 0. Where not, the task needs a
   * verifier of its own outside the lab too. */
  readonly exact_match: boolean
  /** What a score between 0 and 1 means, as part of a sentence; absent where a response is right or
   * wrong and nothing else. */
  readonly partial_score?: string
  /** How good the response (without the end token) is, from 0 to 1. 1 is right, and accuracy is the
   * share of the responses that score 1. Throws RangeError for a prompt that is none of this
   * task. */
  score(prompt: string, response: string): number
}

/** Whether a response with this score counts as right: what accuracy and pass@k mean, also where
 * scores are partial. */
export const isRight = (score: number): boolean => score === 1

/** A kind of task: what the menu shows and what makes one. */
export interface TaskKind {
  readonly id: string
  readonly name: string
  readonly summary: string
  readonly params: readonly TaskParam[]
  /** Parameters of the short run whose result the menu states, where the defaults are too hard for
   * a small model. */
  readonly short_run?: Readonly<Record<string, number>>
  create(params: Readonly<Record<string, number>>): Task
}
