// Declares what a rollout gets: its size, the prompts of a batch, and how the batch is sampled.
import type { CacheDType } from '../../kernels/attention/attention_cache.ts'

/** Prompts of different lengths, padded on either side to one width. */
export interface PromptBatch {
  /** [N, P] */
  readonly input_ids: Uint32Array
  /** [N, P]: 1 = a real token; each row's real tokens are contiguous and at least one. */
  readonly attention_mask: Uint32Array
}

export interface RolloutSize {
  /** B = N · n: responses. */
  readonly rows: number
  /** Responses to each prompt, in neighbouring rows; a divisor of rows. Default 1. */
  readonly n?: number
  /** P */
  readonly prompt_length: number
  /** R */
  readonly response_length: number
  /** Times a row may write, with tokens forced into it in between (rollout_turns.ts). Default 1:
   * nothing is forced. */
  readonly max_turns?: number
  /** What keys and values are kept in (verl's rollout.dtype); the rest is float32 either way.
   * Default 'float32'. */
  readonly dtype?: CacheDType
  /** Rows that are decoded at once: whole prompts, and a divisor of rows. Default groupRows
   * (rollout_cache.ts). */
  readonly groupRows?: number
}

/** Tokens between two looks at rows that may have to wait for something: at most so many columns
 * stay empty before a forced token. */
export const TURN_CHUNK = 8

/** Columns that a rollout decodes: R, and room for what a row leaves empty while it waits. */
export const decodedColumns = ({ response_length, max_turns = 1 }: RolloutSize): number =>
  response_length + (max_turns - 1) * TURN_CHUNK

/** How one batch is sampled: all may change from call to call. */
export interface Sampling {
  /** 0 = greedy. */
  readonly temperature: number
  /** Keep the k most likely tokens; null = all. */
  readonly top_k: number | null
  /** Keep the smallest set of tokens with this probability; 1 = all. */
  readonly top_p: number
  readonly seed: number
  /** Separates uses of the generator that share a seed: training, validation. */
  readonly stream: number
  readonly step: number
  /** Added to the row number in the generator's counter, when a batch is sampled in parts. */
  readonly row_offset: number
}

/** The tokens that end a row, or its turn (any of them; at most 16), and the one that fills it
 * up. */
export interface SpecialTokens {
  readonly eos_token_ids: readonly number[]
  readonly pad_token_id: number
}

/** Names of the values that change from call to call. */
export const LIVE = [
  'temperature',
  'top_k',
  'top_p',
  'seed',
  'stream',
  'step',
  'row_offset',
] as const
export type RolloutLive = (typeof LIVE)[number]
