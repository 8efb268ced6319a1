// Generates in batches with a KV cache: prefill, then one token per step for every row, sampled on
// the GPU.
import type { CacheDType } from '../../kernels/attention/attention_cache.ts'
import type { checkHalfCache } from '../../kernels/attention/half_cache_check.ts'
import type { Program } from '../../kernels/device/base/dispatch_table.ts'
import { ShapeError } from '../../kernels/device/base/errors.ts'
import type { Recorder } from '../../kernels/device/base/program.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import type { Model } from '../transformer/model.ts'
import { decodeFusion } from './recording.ts'
import { cacheSize, type SettledCaches, settleCaches } from './rollout_cache.ts'
import {
  decodedColumns,
  LIVE,
  type PromptBatch,
  type RolloutLive,
  type RolloutSize,
  type Sampling,
  type SpecialTokens,
  TURN_CHUNK,
} from './rollout_inputs.ts'
import { recordPrefill, recordTokens } from './rollout_record.ts'
import { MAX_EOS_TOKENS, type RolloutTensors } from './rollout_tensors.ts'
import { type Reply, RowTurns, type TurnResponses } from './rollout_turns.ts'

/** Tokens that are sampled before the rollout checks whether all rows have ended. A longer response
 * is as many programs, and the next one is queued before the flags of the last have come back: the
 * GPU does not wait, and runs at most one for nothing. */
const CHUNK = 16

/** A recorded rollout of fixed size: upload prompts, replay, read response_ids. */
export class Rollout {
  readonly size: RolloutSize
  readonly tensors: RolloutTensors
  /** What keys and values are kept in: size.dtype, or float32 for the reason beside it. */
  readonly dtype: CacheDType
  readonly fallback_reason: string | undefined
  /** How far attention from halves is from that of float32 on this adapter, relative to its largest
   * value; where it was compared. */
  readonly half_difference: number | undefined
  #gpu: Gpu
  #programs: readonly Program<RolloutLive>[]
  /** Puts the responses of a group of rows, from `row` on, into those of all rows; undefined where
   * one group is all. */
  #keep: Program<'row'> | undefined
  /** What a response of a group holds before it is written; only where it may stay so. */
  #padding: Uint32Array | undefined
  #special: SpecialTokens

  private constructor(
    gpu: Gpu,
    size: RolloutSize,
    {
      tensors,
      settled: { dtype, difference, fallback_reason },
      programs,
      keep,
      padding,
      special,
    }: {
      readonly tensors: RolloutTensors
      readonly settled: SettledCaches
      readonly programs: readonly Program<RolloutLive>[]
      readonly keep: Program<'row'> | undefined
      readonly padding: Uint32Array | undefined
      readonly special: SpecialTokens
    },
  ) {
    this.#gpu = gpu
    this.#special = special
    this.size = size
    this.tensors = tensors
    this.dtype = dtype
    this.fallback_reason = fallback_reason
    this.half_difference = difference
    this.#programs = programs
    this.#keep = keep
    this.#padding = padding
  }

  /** Records prefill and all R decode steps, one program per 16 tokens.
   * float16 caches must first pass `check` on this adapter. Where they do not, they are freed and
   * the rollout runs on float32 caches, which its own `tensors` hold; `dtype` and `fallback_reason`
   * say so.
   * Throws RangeError for more than 16 end tokens or rows that are no multiple of n. */
  static async create(
    gpu: Gpu,
    model: Model,
    size: RolloutSize,
    given: RolloutTensors,
    {
      special,
      check,
    }: { readonly special: SpecialTokens; readonly check?: typeof checkHalfCache | undefined },
  ): Promise<Rollout> {
    const { eos_token_ids, pad_token_id } = special
    if (eos_token_ids.length > MAX_EOS_TOKENS)
      throw new RangeError(
        `rollout: expected at most ${MAX_EOS_TOKENS} end tokens, got ${eos_token_ids.length}`,
      )
    const R = decodedColumns(size)
    const [rows] = given.decoded.response_ids.shape
    const cache = cacheSize({ ...size, rows })
    const needs = { shape: model.shape, cache, width: size.prompt_length + R }
    const settled = await settleCaches(gpu, needs, given, check)
    const { caches, allCaches } = settled
    const tensors = { ...given, caches, allCaches }
    gpu.write(tensors.eos_token_ids, Uint32Array.from(eos_token_ids))
    const programs: Program<RolloutLive>[] = []
    const chunk = tensors.forced ? TURN_CHUNK : CHUNK
    for (let first = 0; first < R; first += chunk)
      programs.push(
        await gpu.record('rollout', LIVE, (recorder) => {
          const fused = decodeFusion(gpu, model)
          const recording = { gpu, recorder, model, cache, tensors, special, R, ...fused }
          if (first === 0) recordPrefill(recording)
          recordTokens(recording, first, Math.min(R, first + chunk))
        }),
      )
    const keep =
      rows === size.rows
        ? undefined
        : await gpu.record('rollout_group', ['row'], keepGroup(tensors))
    const padding = R > CHUNK ? new Uint32Array(rows * R).fill(pad_token_id) : undefined
    return new Rollout(gpu, size, { tensors, settled, programs, keep, padding, special })
  }

  /** Dispatches per call, if no row ends early. */
  get dispatches(): number {
    const groups = this.size.rows / this.#groupRows
    return groups * this.#programs.reduce((sum, { dispatches }) => sum + dispatches, 0)
  }

  /** Rows that are decoded at once. */
  get #groupRows(): number {
    return this.tensors.decoded.response_ids.shape[0]
  }

  /** Uploads the N prompts and encodes the rollout: response_ids, log_probs and entropy follow on
   * the GPU. Of responses of more than 16 tokens it reads back now and then whether all have ended,
   * and leaves out the rest if so. A row's tokens do not depend on how many rows are decoded at
   * once. */
  async generate(prompts: PromptBatch, sampling: Sampling): Promise<void> {
    const { rows, n = 1, prompt_length: P } = this.size
    checkPrompts(prompts, this.size)
    const group = this.#groupRows
    for (let row = 0; row < rows; row += group) {
      const [first, end] = [(row / n) * P, ((row + group) / n) * P]
      this.#upload({
        input_ids: prompts.input_ids.subarray(first, end),
        attention_mask: prompts.attention_mask.subarray(first, end),
      })
      await this.#decode({ ...sampling, row_offset: sampling.row_offset + row })
      if (this.#keep) this.#gpu.replay(this.#keep, { row })
    }
  }

  /** The uploaded rows, until all have ended. */
  async #decode(sampling: Sampling): Promise<void> {
    const gpu = this.#gpu
    const live = liveOf(sampling)
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

  /** As `generate`, for rows that write in turns: `reply` is asked about every turn that ended, and
   * what it returns is forced into the row. One readback per 8 columns, until all rows are done.
   * Only for a size with several turns. */
  async converse(prompts: PromptBatch, sampling: Sampling, reply: Reply): Promise<TurnResponses> {
    const { forced, attention_mask, positions, response_ids } = this.tensors
    if (!forced) throw new ShapeError('rollout: expected a size with several turns')
    const gpu = this.#gpu
    const { eos_token_ids, pad_token_id } = this.#special
    checkPrompts(prompts, this.size)
    const layout = this.#upload(prompts)
    const turns = new RowTurns(this.size, eos_token_ids, pad_token_id, {
      attention_mask: layout.column_mask,
      positions: layout.response_positions,
    })
    gpu.write(forced, turns.forced)
    const live = liveOf(sampling)
    const columns = decodedColumns(this.size)
    for (const [i, program] of this.#programs.entries()) {
      gpu.replay(program, live)
      const end = Math.min(columns, (i + 1) * TURN_CHUNK)
      const [ids] = await gpu.read(response_ids)
      const ended = turns.take(ids, i * TURN_CHUNK, end)
      const replies = await Promise.all(ended.map(reply))
      ended.forEach(({ row }, k) => {
        turns.answer(row, replies[k], end)
      })
      if (turns.is_done) break
      if (replies.every((ids) => ids === undefined)) continue
      gpu.write(forced, turns.forced)
      gpu.write(attention_mask, turns.attention_mask)
      gpu.write(positions, turns.positions)
    }
    return turns
  }

  /** Uploads the prompts of a group of rows, and what an earlier one left behind where that may be
   * seen. */
  #upload(prompts: PromptBatch) {
    const { prefill, attention_mask, positions, last_rows, decoded } = this.tensors
    const size = { ...this.size, rows: this.#groupRows }
    const layout = layoutPrompts(prompts.attention_mask, size, positions.shape[1])
    const gpu = this.#gpu
    gpu.write(prefill.input_ids, prompts.input_ids)
    gpu.write(prefill.attention_mask, prompts.attention_mask)
    gpu.write(prefill.position_ids, layout.prompt_positions)
    gpu.write(prefill.cu_seqlens, layout.cu_seqlens)
    gpu.write(attention_mask, layout.column_mask)
    gpu.write(positions, layout.response_positions)
    gpu.write(last_rows, layout.last_rows)
    if (this.#padding) gpu.write(decoded.response_ids, this.#padding)
    return layout
  }

  async #allEnded(): Promise<boolean> {
    const [ended] = await this.#gpu.read(this.tensors.ended)
    return ended.every((isEnded) => isEnded === 1)
  }
}

/** Throws ShapeError for prompts of another size. */
function checkPrompts(
  { input_ids }: PromptBatch,
  { rows, n = 1, prompt_length: P }: RolloutSize,
): void {
  if (input_ids.length !== (rows / n) * P)
    throw new ShapeError(`rollout: expected ${rows / n} × ${P} prompt ids, got ${input_ids.length}`)
}

/** Copies what a group of rows wrote to their rows of the whole, from `row` on. */
const keepGroup =
  (tensors: RolloutTensors) =>
  ({ copy }: Recorder<'row'>): void => {
    const [, R] = tensors.response_ids.shape
    for (const name of ['response_ids', 'log_probs', 'entropy'] as const)
      copy(tensors.decoded[name], tensors[name], { toOffset: ({ row }) => row * R })
  }

const liveOf = (sampling: Sampling) => ({ ...sampling, top_k: sampling.top_k ?? 0 })

/** Positions clip(cumsum(mask) - 1, 0) as verl, the last real column of each prompt, and the mask
 * over P + R columns of each response. */
function layoutPrompts(mask: Uint32Array, size: RolloutSize, stride: number) {
  const { rows: B, n = 1, prompt_length: P } = size
  const R = decodedColumns(size)
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
