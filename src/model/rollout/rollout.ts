// Batched generation with a KV cache: prefill, then one token per step for every row, sampled on the GPU.
import { attentionKernels } from '../../kernels/attention/attention.ts'
import type { CacheDType } from '../../kernels/attention/attention_cache.ts'
import type { checkHalfCache } from '../../kernels/attention/half_cache_check.ts'
import { ShapeError } from '../../kernels/device/errors.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import type { Program } from '../../kernels/device/program.ts'
import type { Allocator, Tensor } from '../../kernels/device/tensor.ts'
import type { ModelShape } from '../params/config.ts'
import type { Model } from '../transformer/transformer.ts'
import { createWorkspace, type Workspace } from '../transformer/workspace.ts'
import { cacheSize, createCaches, type SettledCaches, settleCaches } from './rollout_cache.ts'
import { isFused, recordPrefill, recordTokens } from './rollout_record.ts'

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
  /** What keys and values are kept in (verl's rollout.dtype); the rest is float32 either way. Default 'float32'. */
  readonly dtype?: CacheDType
}

/** How one batch is sampled: all may change from call to call. */
export interface Sampling {
  /** 0 = greedy. */
  readonly temperature: number
  /** Keep the k most likely tokens; 0 or less = all. */
  readonly top_k: number
  /** Keep the smallest set of tokens with this probability; 1 = all. */
  readonly top_p: number
  readonly seed: number
  /** Separates uses of the generator that share a seed: training, validation. */
  readonly stream: number
  readonly step: number
  /** Added to the row number in the generator's counter, when a batch is sampled in parts. */
  readonly row_offset: number
}

/** The tokens that end a row (any of them; at most 16), and the one that fills it up. */
export interface SpecialTokens {
  readonly eos_token_ids: readonly number[]
  readonly pad_token_id: number
}

/** One token per row and the buffers of one decode step. */
interface DecodeTensors {
  readonly hidden: readonly [Tensor, Tensor]
  readonly normed: Tensor
  readonly inv_rms: Tensor
  readonly qkv: Tensor
  /** Undefined where one kernel turns q and k and attends. */
  readonly qkv_rotated: Tensor | undefined
  readonly context: Tensor
  readonly middle: Tensor
  /** Undefined where one kernel makes gate, up and their product. */
  readonly gate_up: Tensor | undefined
  readonly activated: Tensor
  readonly logits: Tensor
}

/** Everything a rollout keeps on the GPU. */
export interface RolloutTensors {
  /** Of the N prompts. */
  readonly prefill: Workspace
  /** Column mask of prompt and response, [B, P + R]; sampling extends it until a row has ended. */
  readonly attention_mask: Tensor<'u32'>
  /** Position of each response column, [R, B rounded up to 64]. */
  readonly positions: Tensor<'u32'>
  /** Row of prefill.hidden that holds each prompt's last token, [N]. */
  readonly last_rows: Tensor<'u32'>
  /** SpecialTokens.eos_token_ids, in the first places of [16]. */
  readonly eos_token_ids: Tensor<'u32'>
  readonly ended: Tensor<'u32'>
  readonly next_ids: Tensor<'u32'>
  /** [B, R]; the pad token after a row's end token. */
  readonly response_ids: Tensor<'u32'>
  /** Log-prob of each sampled token under the sampling policy before top-k and top-p, [B, R]. */
  readonly log_probs: Tensor<'f32'>
  /** Entropy of that policy at each response token, [B, R], nats. */
  readonly entropy: Tensor<'f32'>
  /**
   * Per block [N · P + B · (R - 1), 2 · K · D], as halves [.., K · D]: each prompt once, then the responses, whose last token
   * nobody attends.
   */
  readonly caches: readonly Tensor[]
  readonly decode: DecodeTensors
}

const ALIGN = 64
/** Room for end tokens, whatever the model: so that a rollout's memory follows from its size. Llama 3 has three. */
const MAX_EOS_TOKENS = 16

/**
 * Tokens that are sampled without looking whether any row goes on. A longer response is as many programs, and the next
 * one is queued before the flags of the last have come back: the GPU does not wait, and does at most one in vain.
 */
const CHUNK = 16

/** Allocates a rollout's buffers. Throws RangeError where rows is no multiple of n. */
export function createRolloutTensors(
  alloc: Allocator,
  shape: ModelShape,
  rollout_size: RolloutSize,
): RolloutTensors {
  const { rows: B, prompt_length: P, response_length: R } = rollout_size
  const cache = cacheSize(rollout_size)
  const N = B / cache.n
  const { hidden_size: C, intermediate_size: F, vocab_size: V, qkv_size } = shape
  const f32 = (label: string, ...dims: number[]) =>
    alloc.tensor(`decode.${label}`, 'f32', dims, { kind: 'activations' })
  const u32 = (label: string, ...dims: number[]) =>
    alloc.tensor(`rollout.${label}`, 'u32', dims, { kind: 'batch' })
  const response = (label: string) =>
    alloc.tensor(`rollout.${label}`, 'f32', [B, R], { kind: 'batch' })
  const size = { rows: N, width: P, response_length: 1, trains: false }
  const { step } = attentionKernels({ width: P + R, head_dim: shape.head_dim })
  return {
    prefill: createWorkspace(alloc, shape, size),
    attention_mask: u32('attention_mask', B, P + R),
    positions: u32('positions', R, Math.ceil(B / ALIGN) * ALIGN),
    last_rows: u32('last_rows', N),
    eos_token_ids: u32('eos_token_ids', MAX_EOS_TOKENS),
    ended: u32('ended', B),
    next_ids: u32('next_ids', B),
    response_ids: u32('response_ids', B, R),
    log_probs: response('log_probs'),
    entropy: response('entropy'),
    caches: createCaches(alloc, shape, cache, rollout_size.dtype ?? 'float32'),
    decode: {
      hidden: [f32('hidden.even', B, C), f32('hidden.odd', B, C)],
      normed: f32('normed', B, C),
      inv_rms: f32('inv_rms', B),
      qkv: f32('qkv', B, qkv_size),
      qkv_rotated: step ? undefined : f32('qkv_rotated', B, qkv_size),
      context: f32('context', B, shape.attention_size),
      middle: f32('middle', B, C),
      gate_up: isFused(C) ? undefined : f32('gate_up', B, 2 * F),
      activated: f32('activated', B, F),
      logits: f32('logits', B, V),
    },
  }
}

const LIVE = ['temperature', 'top_k', 'top_p', 'seed', 'stream', 'step', 'row_offset'] as const
/** What changes from call to call. */
export type RolloutLive = (typeof LIVE)[number]

/** A recorded rollout of fixed size: upload prompts, replay, read response_ids. */
export class Rollout {
  readonly size: RolloutSize
  readonly tensors: RolloutTensors
  /** What keys and values are kept in: size.dtype, or float32 for the reason beside it. */
  readonly dtype: CacheDType
  readonly fallback_reason: string | undefined
  /** How far attention from halves is from that of float32 on this adapter, relative to its largest value; where it was compared. */
  readonly half_difference: number | undefined
  #gpu: Gpu
  #programs: readonly Program<RolloutLive>[]
  /** What a response holds before it is written, [B, R]; only where it may stay so. */
  #padding: Uint32Array | undefined

  private constructor(
    gpu: Gpu,
    size: RolloutSize,
    tensors: RolloutTensors,
    { dtype, difference, fallback_reason }: SettledCaches,
    programs: readonly Program<RolloutLive>[],
    padding: Uint32Array | undefined,
  ) {
    this.#gpu = gpu
    this.size = size
    this.tensors = tensors
    this.dtype = dtype
    this.fallback_reason = fallback_reason
    this.half_difference = difference
    this.#programs = programs
    this.#padding = padding
  }

  /**
   * Records prefill and all R decode steps, one program per 16 tokens.
   * float16 caches must first pass `check` on this adapter. Where they do not, they are freed and the rollout runs on float32
   * caches, which its own `tensors` hold; `dtype` and `fallback_reason` say so.
   * Throws RangeError for more than 16 end tokens or rows that are no multiple of n.
   */
  static async create(
    gpu: Gpu,
    model: Model,
    size: RolloutSize,
    given: RolloutTensors,
    special: SpecialTokens,
    check?: typeof checkHalfCache,
  ): Promise<Rollout> {
    const { eos_token_ids, pad_token_id } = special
    if (eos_token_ids.length > MAX_EOS_TOKENS)
      throw new RangeError(
        `rollout: expected at most ${MAX_EOS_TOKENS} end tokens, got ${eos_token_ids.length}`,
      )
    const R = size.response_length
    const cache = cacheSize(size)
    const needs = { shape: model.shape, cache, width: size.prompt_length + R }
    const settled = await settleCaches(gpu, needs, given.caches, check)
    const tensors = { ...given, caches: settled.caches }
    gpu.write(tensors.eos_token_ids, Uint32Array.from(eos_token_ids))
    const programs: Program<RolloutLive>[] = []
    for (let first = 0; first < R; first += CHUNK)
      programs.push(
        await gpu.record('rollout', LIVE, (recorder) => {
          const recording = { gpu, recorder, model, cache, tensors, special, R }
          if (first === 0) recordPrefill(recording)
          recordTokens(recording, first, Math.min(R, first + CHUNK))
        }),
      )
    const padding = R > CHUNK ? new Uint32Array(size.rows * R).fill(pad_token_id) : undefined
    return new Rollout(gpu, size, tensors, settled, programs, padding)
  }

  /** Dispatches per call, if no row ends early. */
  get dispatches(): number {
    return this.#programs.reduce((sum, { dispatches }) => sum + dispatches, 0)
  }

  /**
   * Uploads the N prompts and encodes the rollout: response_ids, log_probs and entropy follow on the GPU. Of responses of
   * more than 16 tokens it reads back now and then whether all have ended, and leaves out the rest if so.
   */
  async generate(prompts: PromptBatch, sampling: Sampling): Promise<void> {
    const { rows: B, n = 1, prompt_length: P } = this.size
    const { prefill, attention_mask, positions, last_rows, response_ids } = this.tensors
    if (prompts.input_ids.length !== (B / n) * P)
      throw new ShapeError(
        `rollout: expected ${B / n} × ${P} prompt ids, got ${prompts.input_ids.length}`,
      )
    const layout = layoutPrompts(prompts.attention_mask, this.size, positions.shape[1])
    const gpu = this.#gpu
    gpu.write(prefill.input_ids, prompts.input_ids)
    gpu.write(prefill.attention_mask, prompts.attention_mask)
    gpu.write(prefill.position_ids, layout.prompt_positions)
    gpu.write(prefill.cu_seqlens, layout.cu_seqlens)
    gpu.write(attention_mask, layout.column_mask)
    gpu.write(positions, layout.response_positions)
    gpu.write(last_rows, layout.last_rows)
    if (this.#padding) gpu.write(response_ids, this.#padding)
    const live = { ...sampling, top_k: Math.max(0, sampling.top_k) }
    let before = Promise.resolve(false)
    for (const [i, program] of this.#programs.entries()) {
      gpu.replay(program, live)
      if (i === this.#programs.length - 1) break
      const now = this.#allEnded()
      if (await before) break
      before = now
    }
    await before
  }

  async #allEnded(): Promise<boolean> {
    const [ended] = await this.#gpu.read(this.tensors.ended)
    return ended.every((is_ended) => is_ended === 1)
  }
}

/**
 * Positions clip(cumsum(mask) - 1, 0) as verl, the last real column of each prompt, and the mask over P + R columns of
 * each response.
 */
function layoutPrompts(
  mask: Uint32Array,
  { rows: B, n = 1, prompt_length: P, response_length: R }: RolloutSize,
  stride: number,
) {
  const N = B / n
  const prompt_positions = new Uint32Array(N * P)
  const response_positions = new Uint32Array(R * stride)
  const last_rows = new Uint32Array(N)
  const column_mask = new Uint32Array(B * (P + R))
  for (let i = 0; i < N; i++) {
    let length = 0
    for (let p = 0; p < P; p++) {
      length += mask[i * P + p]
      prompt_positions[i * P + p] = Math.max(0, length - 1)
      if (mask[i * P + p]) last_rows[i] = i * P + p
    }
    if (length === 0) throw new ShapeError(`rollout: prompt ${i} has no tokens`)
    for (let b = i * n; b < (i + 1) * n; b++) {
      column_mask.set(mask.subarray(i * P, (i + 1) * P), b * (P + R))
      for (let t = 0; t < R; t++) response_positions[t * stride + b] = length + t
    }
  }
  const cu_seqlens = Uint32Array.from({ length: N + 1 }, (_, i) => i * P)
  return { prompt_positions, response_positions, last_rows, column_mask, cu_seqlens }
}
