// Holds the batch that a training step works on, on the GPU: the rows of ids, and what is computed
// of them.

import type { Allocator, Tensor } from '../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import { layRows } from '../../model/transformer/rows.ts'
import { joined, type RolloutBatch } from './batch.ts'

/** How rows lie in passes over them: TokenStream's arrays on the GPU. */
export interface StreamTensors {
  /** u32 [B, T] each. A micro-batch's tokens lie at the beginning of its rows, with padding or
   * without. */
  readonly input_ids: Tensor
  readonly attention_mask: Tensor
  readonly position_ids: Tensor
  /** Of each micro-batch of m rows in turn, u32 [m + 1]; as many as for micro-batches of one
   * row. */
  readonly cu_seqlens: Tensor
  /** Of each micro-batch in turn, u32 [B, R · 4] (kernels/vocab_head/scored.ts). */
  readonly scored: Tensor
}

/** What RolloutBatch holds, plus what is computed from it. */
export interface BatchTensors extends StreamTensors {
  /** All rows as one stream, for a pass over several micro-batches; undefined where no room was
   * made for such passes. */
  readonly whole: StreamTensors | undefined
  /** [B, R] from here on. */
  readonly response_ids: Tensor
  readonly response_mask: Tensor
  readonly advantages: Tensor
  readonly old_log_probs: Tensor
  /** Σ π² of the old policy at each token. */
  readonly sum_pi_squared: Tensor
  readonly ref_log_prob: Tensor
  /** Importance weights of rollout correction; ones without it. */
  readonly rollout_is_weights: Tensor
}

/** Per-token arrays of a batch that are computed after it was uploaded, [B, R] each. */
export interface BatchColumns {
  readonly advantages?: Float32Array
  readonly old_log_probs?: Float32Array
  readonly ref_log_prob?: Float32Array
  readonly rollout_is_weights?: Float32Array
  readonly response_mask?: Float32Array
}

export interface BatchSize {
  /** B */
  readonly rows: number
  readonly prompt_length: number
  /** R */
  readonly response_length: number
  /** Make room for passes over all rows at once. Default false. */
  readonly hasWhole?: boolean
}

/** Arrays of a TokenStream. */
const STREAM = ['input_ids', 'attention_mask', 'position_ids', 'cu_seqlens', 'scored'] as const

/** Allocates a batch; `name` is that of its buffers. */
export function createBatchTensors(
  alloc: Allocator,
  { rows: B, prompt_length, response_length: R, hasWhole = false }: BatchSize,
  name = 'batch',
): BatchTensors {
  const T = prompt_length + R
  const tensor = (label: string, dtype: 'u32' | 'f32', ...dims: number[]) =>
    alloc.tensor(`${name}.${label}`, dtype, dims, { kind: 'batch' })
  const response = (label: string) => tensor(label, 'f32', B, R)
  const stream = (of = ''): StreamTensors => ({
    input_ids: tensor(`${of}input_ids`, 'u32', B, T),
    attention_mask: tensor(`${of}attention_mask`, 'u32', B, T),
    position_ids: tensor(`${of}position_ids`, 'u32', B, T),
    cu_seqlens: tensor(`${of}cu_seqlens`, 'u32', 2 * B),
    scored: tensor(`${of}scored`, 'u32', B, 4 * R),
  })
  return {
    ...stream(),
    whole: hasWhole ? stream('whole.') : undefined,
    response_ids: tensor('response_ids', 'u32', B, R),
    response_mask: response('response_mask'),
    advantages: response('advantages'),
    old_log_probs: response('old_log_probs'),
    sum_pi_squared: response('sum_pi_squared'),
    ref_log_prob: response('ref_log_prob'),
    rollout_is_weights: response('rollout_is_weights'),
  }
}

/** The batch and how it was cut. Actor and critic work on the same one. */
export class TrainingBatch {
  readonly tensors: BatchTensors
  #gpu: Pick<Gpu, 'write'>
  #useRemovePadding: boolean
  #micro = 0
  /** Tokens of all rows, where they were uploaded as one stream too. */
  #wholeTokens: number | undefined
  /** Tokens of each micro-batch. */
  #tokens: readonly number[] = []

  constructor(gpu: Pick<Gpu, 'write'>, tensors: BatchTensors, useRemovePadding: boolean) {
    this.#gpu = gpu
    this.tensors = tensors
    this.#useRemovePadding = useRemovePadding
  }

  /** Uploads a batch that will go through in micro-batches of `micro` rows, a divisor of its
   * rows. */
  upload(batch: RolloutBatch, micro: number): void {
    const { rows, prompt_length, response_length: R } = batch
    if (rows % micro !== 0)
      throw new RangeError(`batch: ${rows} rows do not divide into micro-batches of ${micro}`)
    const T = prompt_length + R
    const lay = (row: number, count: number) => {
      const part = <A extends Uint32Array | Float32Array>(values: A, columns: number) =>
        values.subarray(row * columns, (row + count) * columns) as A
      const rowsOf = {
        input_ids: part(batch.input_ids, T),
        attention_mask: part(batch.attention_mask, T),
        position_ids: part(batch.position_ids, T),
        response_ids: part(batch.response_ids, R),
        response_mask: part(batch.response_mask, R),
      }
      const size = { rows: count, width: T, response_length: R }
      return layRows(rowsOf, size, this.#useRemovePadding)
    }
    const streams = Array.from({ length: rows / micro }, (_, i) => lay(i * micro, micro))
    const gpu = this.#gpu
    const { whole } = this.tensors
    for (const name of STREAM)
      gpu.write(this.tensors[name], joined(streams.map((stream) => stream[name])))
    const stream = whole && rows > micro ? lay(0, rows) : undefined
    if (whole && stream) for (const name of STREAM) gpu.write(whole[name], stream[name])
    this.#wholeTokens = stream?.tokens
    gpu.write(this.tensors.response_ids, batch.response_ids)
    gpu.write(this.tensors.response_mask, batch.response_mask)
    this.#micro = micro
    this.#tokens = streams.map(({ tokens }) => tokens)
  }

  /** Tokens of all rows as one stream. Throws RangeError where they were not uploaded so. */
  get wholeTokens(): number {
    if (this.#wholeTokens === undefined)
      throw new RangeError('batch: its rows were not uploaded as one stream')
    return this.#wholeTokens
  }

  /** Tokens of the micro-batch that begins at `row`. Throws RangeError where the batch was cut
   * otherwise. */
  tokens(row: number, micro: number): number {
    const count = this.#tokens[row / micro]
    if (micro !== this.#micro || count === undefined)
      throw new RangeError(
        `batch: rows ${row} to ${row + micro} are no micro-batch of those of ${this.#micro} rows that were uploaded`,
      )
    return count
  }
}
