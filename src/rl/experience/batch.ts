// Makes one batch of prompts and responses as rows of ids. response_mask and token_count are made
// here and nowhere else.
import type { Sample, Task } from '../../tasks/task/task.ts'
import { countsOf, pickCounts, type TurnCounts } from './turn_counts.ts'

/** Prompts left-padded to P columns, responses right-padded to R; B rows, T = P + R. */
export interface RolloutBatch {
  readonly rows: number
  readonly prompt_length: number
  readonly response_length: number
  /** [B, T] */
  readonly input_ids: Uint32Array
  /** [B, T]: 1 = a real token. */
  readonly attention_mask: Uint32Array
  /** clip(cumsum(attention_mask) - 1, 0), as verl; [B, T]. */
  readonly position_ids: Uint32Array
  /** [B, R] */
  readonly response_ids: Uint32Array
  /** [B, R]: 1 = the policy produced this token, end token included; 0 = padding, or a tool or a
   * template wrote it. */
  readonly response_mask: Float32Array
  /** Response tokens of each row, end token and those of tools included. */
  readonly response_lengths: Uint32Array
  /** Whether each response ended by itself, rather than at the maximum length. */
  readonly is_ended: readonly boolean[]
  /** Where rows have several turns. */
  readonly turns?: TurnCounts
}

/** What only conversations know of their responses. */
export interface BatchTurns extends TurnCounts {
  /** [B, R]: 1 = the policy wrote this token; 0 = a tool or a template did, or padding. */
  readonly response_mask: Float32Array
  /** Tokens of each response, whoever wrote them; [B]. */
  readonly response_lengths: Uint32Array
  /** Whether its last token ends it; [B]. */
  readonly is_ended: readonly boolean[]
}

/** Pads prompts on the left to `prompt_length` columns: ids and mask, [B, P]. Throws RangeError if
 * one is too long. */
export function padPrompts(
  prompts: readonly (readonly number[])[],
  promptLength: number,
  padTokenId: number,
): { input_ids: Uint32Array; attention_mask: Uint32Array } {
  const input_ids = new Uint32Array(prompts.length * promptLength).fill(padTokenId)
  const attention_mask = new Uint32Array(prompts.length * promptLength)
  prompts.forEach((ids, b) => {
    if (ids.length === 0 || ids.length > promptLength)
      throw new RangeError(`prompt ${b}: expected 1 to ${promptLength} tokens, got ${ids.length}`)
    const start = (b + 1) * promptLength - ids.length
    for (let i = 0; i < ids.length; i++) {
      input_ids[start + i] = ids[i]
      attention_mask[start + i] = 1
    }
  })
  return { input_ids, attention_mask }
}

/** The prompts of samples, encoded and padded to the task's longest. */
export function promptBatch(samples: readonly Sample[], task: Task) {
  const { tokenizer } = task
  const encoded = new Map<string, readonly number[]>()
  const ids = samples.map(({ prompt }) => {
    // The n responses of a group have one prompt.
    const known = encoded.get(prompt) ?? tokenizer.encode(prompt)
    encoded.set(prompt, known)
    return known
  })
  return padPrompts(ids, task.max_prompt_length, tokenizer.pad_token_id)
}

/** Pads rows of `columns` values to `width` columns. */
export function widenRows<T extends Uint32Array | Float32Array>(
  values: T,
  columns: number,
  width: number,
  padding: number,
): T {
  if (columns === width) return values
  const rows = values.length / columns
  const wide = new (values.constructor as new (length: number) => T)(rows * width).fill(
    padding,
  ) as T
  for (let b = 0; b < rows; b++)
    wide.set(values.subarray(b * columns, (b + 1) * columns), b * width)
  return wide
}

/** One end token, or several of equal rank (Hugging Face's eos_token_id may be a list). */
export type EndTokens = number | readonly number[]

/** Where each response of [B, R] ids ends: its tokens up to and including the first end token
 * within `max_response_length` columns, all of those columns without one. */
export function responseEnds(
  response_ids: ArrayLike<number>,
  responseLength: number,
  eosTokenId: EndTokens,
  max_response_length: number = responseLength,
): { response_lengths: Uint32Array; is_ended: boolean[] } {
  const ends = typeof eosTokenId === 'number' ? [eosTokenId] : eosTokenId
  const rows = response_ids.length / responseLength
  const response_lengths = new Uint32Array(rows).fill(max_response_length)
  const is_ended = new Array<boolean>(rows).fill(false)
  for (let b = 0; b < rows; b++)
    for (let t = 0; t < max_response_length && !is_ended[b]; t++)
      if (ends.includes(response_ids[b * responseLength + t])) {
        is_ended[b] = true
        response_lengths[b] = t + 1
      }
  return { response_lengths, is_ended }
}

/** [B] lengths → [B, R]: 1 in the first columns of each row. */
export function lengthMask(response_lengths: Uint32Array, responseLength: number): Float32Array {
  const mask = new Float32Array(response_lengths.length * responseLength)
  for (let b = 0; b < response_lengths.length; b++)
    for (let t = 0; t < response_lengths[b]; t++) mask[b * responseLength + t] = 1
  return mask
}

/** 1 for every token the policy produced, the end token included; [B, R]. Arguments as
 * `responseEnds` (verl/utils/torch_functional.py get_response_mask). */
export function responseMask(
  response_ids: ArrayLike<number>,
  responseLength: number,
  eosTokenId: EndTokens,
  max_response_length: number = responseLength,
): Float32Array {
  const ends = responseEnds(response_ids, responseLength, eosTokenId, max_response_length)
  return lengthMask(ends.response_lengths, responseLength)
}

/** The last R of `columns` columns: verl's response mask when the rollout gives none; [B, R]. The
 * lab's rollout has end tokens, so only `lab conform` calls it. */
export function attentionResponseMask(
  attention_mask: ArrayLike<number>,
  columns: number,
  responseLength: number,
): Float32Array {
  const rows = attention_mask.length / columns
  const mask = new Float32Array(rows * responseLength)
  for (let i = 0; i < mask.length; i++) {
    const b = Math.floor(i / responseLength)
    mask[i] = attention_mask[(b + 1) * (columns - responseLength) + i]
  }
  return mask
}

/** clip(cumsum(attention_mask) - 1, 0) along rows of `columns`: real tokens count from 0
 * (verl/utils/model.py). */
export function positionIds(attention_mask: ArrayLike<number>, columns: number): Uint32Array {
  const places = new Uint32Array(attention_mask.length)
  let position = -1
  for (let i = 0; i < attention_mask.length; i++) {
    if (i % columns === 0) position = -1
    position += attention_mask[i]
    places[i] = Math.max(0, position)
  }
  return places
}

/** Joins padded prompts [B, P] and sampled responses [B, R]. A response runs up to and including
 * its first end token; without one it has `max_response_length` tokens, which may be fewer than R
 * columns. Of conversations `turns` says where they end and who wrote what, in rows of
 * `max_response_length` columns: an end token may stand inside. */
export function makeBatch(
  prompts: { readonly input_ids: Uint32Array; readonly attention_mask: Uint32Array },
  response_ids: Uint32Array,
  size: { rows: number; prompt_length: number; response_length: number },
  eosTokenId: EndTokens,
  {
    max_response_length = size.response_length,
    turns,
  }: { readonly max_response_length?: number; readonly turns?: BatchTurns | undefined } = {},
): RolloutBatch {
  const { rows: B, prompt_length: P, response_length: R } = size
  const T = P + R
  const { response_lengths, is_ended } =
    turns ?? responseEnds(response_ids, R, eosTokenId, max_response_length)
  const input_ids = new Uint32Array(B * T)
  const attention_mask = new Uint32Array(B * T)
  for (let b = 0; b < B; b++) {
    // Rows are short: a loop costs less than a view of each.
    for (let p = 0; p < P; p++) {
      input_ids[b * T + p] = prompts.input_ids[b * P + p]
      attention_mask[b * T + p] = prompts.attention_mask[b * P + p]
    }
    const start = b * T + P
    for (let t = 0; t < R; t++) {
      input_ids[start + t] = response_ids[b * R + t]
      if (t < response_lengths[b]) attention_mask[start + t] = 1
    }
  }
  return {
    ...size,
    input_ids,
    attention_mask,
    position_ids: positionIds(attention_mask, T),
    response_ids,
    response_mask: turns
      ? widenRows(turns.response_mask, max_response_length, R, 0)
      : lengthMask(response_lengths, R),
    response_lengths,
    is_ended,
    ...(turns && { turns: countsOf(turns) }),
  }
}

/** Response tokens of rows [first, first + count) that count in training: the divisor of
 * token-mean. */
export function tokenCount(
  { response_mask, response_length: R, rows }: RolloutBatch,
  first = 0,
  count: number = rows,
): number {
  let tokens = 0
  for (let i = first * R; i < (first + count) * R; i++) tokens += response_mask[i]
  return tokens
}

/** Rows of [first, first + count) that have a response token: the divisor of sequence means. */
export function sequenceCount(batch: RolloutBatch, first = 0, count: number = batch.rows): number {
  let sequences = 0
  for (let row = first; row < first + count; row++) if (tokenCount(batch, row, 1) > 0) sequences++
  return sequences
}

/** `count` rows at even distances, so that a part of a batch holds as many different prompts as it
 * can. */
export const spreadRows = (batch: RolloutBatch, count: number): RolloutBatch =>
  chosenRows(
    batch,
    Array.from({ length: count }, (_, i) => Math.floor((i * batch.rows) / count)),
  )

/** These rows of a batch, in this order. */
export function chosenRows(batch: RolloutBatch, rows: readonly number[]): RolloutBatch {
  const pick = <T extends Uint32Array | Float32Array>(values: T): T =>
    pickRows(values, rows, values.length / batch.rows)
  return {
    ...batch,
    rows: rows.length,
    input_ids: pick(batch.input_ids),
    attention_mask: pick(batch.attention_mask),
    position_ids: pick(batch.position_ids),
    response_ids: pick(batch.response_ids),
    response_mask: pick(batch.response_mask),
    response_lengths: pick(batch.response_lengths),
    is_ended: rows.map((row) => batch.is_ended[row]),
    ...(batch.turns && {
      turns: pickCounts(batch.turns, rows),
    }),
  }
}

/** Batches [B, columns] of one kind, one below the other. */
export function joined<T extends Uint32Array | Float32Array>(arrays: readonly T[]): T {
  const all = new (arrays[0].constructor as new (length: number) => T)(
    arrays.reduce((total, { length }) => total + length, 0),
  )
  let at = 0
  for (const array of arrays) {
    all.set(array, at)
    at += array.length
  }
  return all
}

/** The given rows of [B, columns], in that order. */
export function pickRows<T extends Uint32Array | Float32Array>(
  values: T,
  rows: readonly number[],
  columns: number,
): T {
  const picked = values.slice(0, rows.length * columns) as T
  rows.forEach((row, i) => {
    picked.set(values.subarray(row * columns, (row + 1) * columns), i * columns)
  })
  return picked
}
