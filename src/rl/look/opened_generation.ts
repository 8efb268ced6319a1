// Writes text with an opened model, a few tokens at a time, so that a person can read along and
// stop it. One row with a KV cache.

import type { Program } from '../../kernels/device/base/dispatch_table.ts'
import type { Allocator } from '../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import { decodeFusion, type Recording } from '../../model/rollout/recording.ts'
import { cacheSize } from '../../model/rollout/rollout_cache.ts'
import { LIVE, type RolloutLive, type RolloutSize } from '../../model/rollout/rollout_inputs.ts'
import { recordPrefill, recordTokens } from '../../model/rollout/rollout_record.ts'
import {
  createRolloutTensors,
  MAX_EOS_TOKENS,
  type RolloutTensors,
} from '../../model/rollout/rollout_tensors.ts'
import type { Model } from '../../model/transformer/model.ts'

/** Tokens of a prompt at most, and of what is written after it. */
export const MOST_PROMPT = 512
export const MOST_WRITTEN = 512
/** Tokens between two looks. */
const CHUNK = 8
const SIZE: RolloutSize = { rows: 1, prompt_length: MOST_PROMPT, response_length: MOST_WRITTEN }
/** Columns of a short text: they take attention's quicker kernels. */
const SHORT = 512

/** The columns that a text takes, of those there is room for: all of a prompt's are computed, so a
 * short one gets few. */
export function columnsFor(prompt: number, written: number): RolloutSize {
  for (const prompt_length of [32, 64, 128, 256]) {
    const response_length = SHORT - prompt_length
    if (prompt <= prompt_length && written <= response_length)
      return { rows: 1, prompt_length, response_length }
  }
  return SIZE
}

/** How the next token is drawn. 0 for temperature is greedy; 0 for top_k and 1 for top_p leave all
 * tokens in. */
export interface GenerationSettings {
  readonly temperature: number
  readonly top_p: number
  readonly top_k: number
  readonly max_tokens: number
  readonly seed: number
}

/** One token that was written. */
export interface WrittenToken {
  readonly id: number
  /** Nats, under the policy at this temperature, all tokens in. */
  readonly log_prob: number
  readonly entropy: number
}

interface Live {
  readonly signal?: AbortSignal | undefined
  /** Tokens as they come. */
  readonly onTokens: (tokens: readonly WrittenToken[]) => void
}

/** Room for one conversation. */
export const createGeneration = (alloc: Allocator, { shape }: Model): RolloutTensors =>
  createRolloutTensors(alloc, shape, SIZE)

export class Generation {
  readonly #gpu: Gpu
  readonly #model: Model
  readonly #tensors: RolloutTensors
  readonly #eos: readonly number[]
  /** By columns of the prompt and first token; recorded when they are first reached. */
  readonly #programs = new Map<string, Promise<Program<RolloutLive>>>()

  constructor(gpu: Gpu, model: Model, tensors: RolloutTensors, eosTokenIds: readonly number[]) {
    this.#gpu = gpu
    this.#model = model
    this.#tensors = tensors
    this.#eos = eosTokenIds.slice(0, MAX_EOS_TOKENS)
    gpu.write(tensors.eos_token_ids, Uint32Array.from(this.#eos))
  }

  /** Whether this token ends what is written. */
  readonly isEnd = (id: number): boolean => this.#eos.includes(id)

  /** Continues `ids` until an end token, `max_tokens` or the signal. Returns all tokens, the end
   * token included. Throws RangeError for a prompt that is empty or too long. */
  async write(
    ids: readonly number[],
    settings: GenerationSettings,
    { signal, onTokens }: Live,
  ): Promise<readonly WrittenToken[]> {
    const most = Math.min(settings.max_tokens, MOST_WRITTEN)
    const size = columnsFor(ids.length, most)
    this.#upload(ids, size)
    const { temperature, top_k, top_p, seed } = settings
    const live = { temperature, top_k, top_p, seed, stream: 0, step: 0, row_offset: 0 }
    const written: WrittenToken[] = []
    for (let first = 0; first < most && !signal?.aborted; first += CHUNK) {
      this.#gpu.replay(await this.#program(first, size), live)
      const { response_ids, log_probs, entropy } = this.#tensors
      const [own, logProb, nats] = await this.#gpu.read(response_ids, log_probs, entropy)
      const fresh: WrittenToken[] = []
      let hasEnded = false
      for (let t = first; t < Math.min(most, first + CHUNK) && !hasEnded; t++) {
        fresh.push({ id: own[t], log_prob: logProb[t], entropy: nats[t] })
        hasEnded = this.isEnd(own[t])
      }
      written.push(...fresh)
      onTokens(fresh)
      if (hasEnded) break
    }
    return written
  }

  /** Prompts are padded on the left, so that every response begins in the same column. */
  #upload(ids: readonly number[], { prompt_length: P, response_length: R }: RolloutSize): void {
    const n = ids.length
    if (n === 0 || n > P)
      throw new RangeError(
        `Expected a prompt of 1 to ${MOST_PROMPT} tokens, found ${n}. ${n === 0 ? 'Type a text' : 'Take a shorter text'}.`,
      )
    const gpu = this.#gpu
    const { prefill, attention_mask, positions, last_rows } = this.#tensors
    const columns = Array.from({ length: P }, (_, p) => p)
    const mask = columns.map((p) => (p < P - n ? 0 : 1))
    gpu.write(
      prefill.input_ids,
      Uint32Array.from(columns, (p) => ids[p - (P - n)] ?? 0),
    )
    gpu.write(prefill.attention_mask, Uint32Array.from(mask))
    gpu.write(
      prefill.position_ids,
      Uint32Array.from(columns, (p) => Math.max(0, p - (P - n))),
    )
    gpu.write(prefill.cu_seqlens, Uint32Array.of(0, P))
    const stride = positions.shape[1]
    const after = new Uint32Array(R * stride)
    for (let t = 0; t < R; t++) after[t * stride] = n + t
    gpu.write(positions, after)
    gpu.write(last_rows, Uint32Array.of(P - 1))
    const all = new Uint32Array(P + R)
    all.set(mask)
    gpu.write(attention_mask, all)
  }

  /** Compiles what the first tokens of a short text take, while nobody waits for them. */
  async prepare(): Promise<void> {
    await this.#program(0, columnsFor(1, 1))
  }

  #program(first: number, size: RolloutSize): Promise<Program<RolloutLive>> {
    const key = `${size.prompt_length} ${first}`
    const known = this.#programs.get(key)
    if (known) return known
    const special = { eos_token_ids: this.#eos, pad_token_id: 0 }
    const program = this.#gpu.record('generation', LIVE, (recorder) => {
      const recording: Recording = {
        gpu: this.#gpu,
        recorder,
        model: this.#model,
        tensors: this.#tensors,
        special,
        cache: cacheSize(size),
        R: size.response_length,
        ...decodeFusion(this.#gpu, this.#model),
      }
      if (first === 0) recordPrefill(recording)
      recordTokens(recording, first, first + CHUNK)
    })
    this.#programs.set(key, program)
    return program
  }
}
