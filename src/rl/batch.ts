// One batch of prompts and responses as rows of ids. response_mask and token_count are made here and nowhere else.
import type { Sample, Task, Tokenizer } from '../tasks/task.ts'

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
  /** [B, R]: 1 = the policy produced this token, end token included; 0 = padding. */
  readonly response_mask: Float32Array
  /** Response tokens of each row, end token included. */
  readonly response_lengths: Uint32Array
  /** Whether each response ended by itself, rather than at the maximum length. */
  readonly is_ended: readonly boolean[]
}

/** Pads prompts on the left to `prompt_length` columns: ids and mask, [B, P]. Throws RangeError if one is too long. */
export function padPrompts(
  prompts: readonly (readonly number[])[],
  prompt_length: number,
  pad_token_id: number,
): { input_ids: Uint32Array; attention_mask: Uint32Array } {
  const input_ids = new Uint32Array(prompts.length * prompt_length).fill(pad_token_id)
  const attention_mask = new Uint32Array(prompts.length * prompt_length)
  prompts.forEach((ids, b) => {
    if (ids.length === 0 || ids.length > prompt_length)
      throw new RangeError(`prompt ${b}: expected 1 to ${prompt_length} tokens, got ${ids.length}`)
    const start = (b + 1) * prompt_length - ids.length
    input_ids.set(ids, start)
    attention_mask.fill(1, start, start + ids.length)
  })
  return { input_ids, attention_mask }
}

/** The prompts of samples, encoded and padded to the task's longest. */
export function promptBatch(samples: readonly Sample[], task: Task, tokenizer: Tokenizer) {
  const ids = samples.map(({ prompt }) => tokenizer.encode(prompt))
  return padPrompts(ids, task.max_prompt_length, tokenizer.pad_token_id)
}

/** Pads rows of `columns` ids to `width` columns. */
export function widenRows(
  ids: Uint32Array,
  columns: number,
  width: number,
  pad_token_id: number,
): Uint32Array {
  if (columns === width) return ids
  const rows = ids.length / columns
  const wide = new Uint32Array(rows * width).fill(pad_token_id)
  for (let b = 0; b < rows; b++) wide.set(ids.subarray(b * columns, (b + 1) * columns), b * width)
  return wide
}

/**
 * Joins padded prompts [B, P] and sampled responses [B, R]. A response runs up to and including its first end token;
 * without one it has `max_response_length` tokens, which may be fewer than R columns.
 */
export function makeBatch(
  prompts: { readonly input_ids: Uint32Array; readonly attention_mask: Uint32Array },
  response_ids: Uint32Array,
  size: { rows: number; prompt_length: number; response_length: number },
  eos_token_id: number,
  max_response_length: number = size.response_length,
): RolloutBatch {
  const { rows: B, prompt_length: P, response_length: R } = size
  const T = P + R
  const input_ids = new Uint32Array(B * T)
  const attention_mask = new Uint32Array(B * T)
  const position_ids = new Uint32Array(B * T)
  const response_mask = new Float32Array(B * R)
  const response_lengths = new Uint32Array(B)
  const is_ended: boolean[] = []
  for (let b = 0; b < B; b++) {
    const response = response_ids.subarray(b * R, (b + 1) * R)
    const end = response.indexOf(eos_token_id)
    const length = end < 0 ? max_response_length : end + 1
    is_ended.push(end >= 0)
    response_lengths[b] = length
    response_mask.fill(1, b * R, b * R + length)
    input_ids.set(prompts.input_ids.subarray(b * P, (b + 1) * P), b * T)
    input_ids.set(response, b * T + P)
    attention_mask.set(prompts.attention_mask.subarray(b * P, (b + 1) * P), b * T)
    attention_mask.fill(1, b * T + P, b * T + P + length)
    let position = -1
    for (let c = b * T; c < (b + 1) * T; c++) {
      position += attention_mask[c]
      position_ids[c] = Math.max(0, position)
    }
  }
  return {
    ...size,
    input_ids,
    attention_mask,
    position_ids,
    response_ids,
    response_mask,
    response_lengths,
    is_ended,
  }
}

/** Response tokens of rows [first, first + count): the divisor of token-mean. */
export function tokenCount(batch: RolloutBatch, first = 0, count: number = batch.rows): number {
  return batch.response_lengths.subarray(first, first + count).reduce((a, b) => a + b, 0)
}

/** `count` rows at even distances, so that a part of a batch holds as many different prompts as it can. */
export function spreadRows(batch: RolloutBatch, count: number): RolloutBatch {
  const rows = Array.from({ length: count }, (_, i) => Math.floor((i * batch.rows) / count))
  const pick = <T extends Uint32Array | Float32Array>(values: T): T => {
    const columns = values.length / batch.rows
    const picked = values.slice(0, count * columns) as T
    rows.forEach((row, i) => {
      picked.set(values.subarray(row * columns, (row + 1) * columns), i * columns)
    })
    return picked
  }
  return {
    ...batch,
    rows: count,
    input_ids: pick(batch.input_ids),
    attention_mask: pick(batch.attention_mask),
    position_ids: pick(batch.position_ids),
    response_ids: pick(batch.response_ids),
    response_mask: pick(batch.response_mask),
    response_lengths: pick(batch.response_lengths),
    is_ended: rows.map((row) => batch.is_ended[row]),
  }
}
