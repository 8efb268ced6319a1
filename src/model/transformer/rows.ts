// Says how rows of tokens lie in a workspace: one stream of tokens, with padding or without.
import { ShapeError } from '../../kernels/device/base/errors.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import { listScoredAt } from '../../kernels/vocab_head/scored.ts'
import type { Workspace } from './workspace.ts'

/** Rows of T columns, the last R of them the response. */
export interface Rows {
  /** [rows, T] */
  readonly input_ids: Uint32Array
  /** [rows, T]: 1 = a real token. */
  readonly attention_mask: Uint32Array
  /** [rows, T] */
  readonly position_ids: Uint32Array
  /** [rows, R] */
  readonly response_ids: Uint32Array
  /** [rows, R]: 1 = a token to be scored. */
  readonly response_mask: Float32Array
}

export interface RowsSize {
  readonly rows: number
  /** T */
  readonly width: number
  /** R */
  readonly response_length: number
}

/** A stream of at most rows · T tokens: what a workspace's inputs hold. */
export interface TokenStream {
  /** M: tokens of the stream; what lies behind them is not looked at. */
  readonly tokens: number
  /** [rows · T] each. */
  readonly input_ids: Uint32Array
  readonly attention_mask: Uint32Array
  readonly position_ids: Uint32Array
  /** Row b is tokens cu_seqlens[b] … cu_seqlens[b+1] − 1 of the stream; [rows + 1]. */
  readonly cu_seqlens: Uint32Array
  /** Which state scores which response token (listScoredAt); [rows · R, 4]. */
  readonly scored: Uint32Array
}

/** Lays rows out as a stream. With `useRemovePadding` (verl's
 * actor_rollout_ref.model.use_remove_padding) only the real tokens are kept, in their order;
 * without, all columns of all rows. Response token t of a row is scored by the state of column T −
 * R − 1 + t. Throws ShapeError for arrays of other sizes, and, without padding, for a scored token
 * with padding among the response columns before it. */
export function layRows(
  { input_ids, attention_mask, position_ids, response_ids, response_mask }: Rows,
  size: RowsSize,
  useRemovePadding: boolean,
): TokenStream {
  const { rows, width, response_length: R } = size
  const capacity = rows * width
  for (const array of [input_ids, attention_mask, position_ids])
    if (array.length !== capacity)
      throw new ShapeError(`rows: expected ${rows} × ${width} values, got ${array.length}`)
  const firstColumn = width - R - 1
  if (!useRemovePadding) {
    const firstStates = Uint32Array.from({ length: rows }, (_, b) => b * width + firstColumn)
    return {
      tokens: capacity,
      input_ids,
      attention_mask,
      position_ids,
      cu_seqlens: Uint32Array.from({ length: rows + 1 }, (_, b) => b * width),
      scored: listScoredAt(firstStates, R, response_ids, response_mask),
    }
  }
  const stream = {
    input_ids: new Uint32Array(capacity),
    attention_mask: new Uint32Array(capacity),
    position_ids: new Uint32Array(capacity),
  }
  const cu_seqlens = new Uint32Array(rows + 1)
  const firstStates = new Uint32Array(rows)
  let token = 0
  for (let b = 0; b < rows; b++) {
    checkScored(attention_mask, response_mask, b, size)
    for (let c = 0; c < width; c++) {
      const at = b * width + c
      if (c === firstColumn) firstStates[b] = token
      if (attention_mask[at] === 0) continue
      stream.input_ids[token] = input_ids[at]
      stream.attention_mask[token] = 1
      stream.position_ids[token] = position_ids[at]
      token++
    }
    cu_seqlens[b + 1] = token
  }
  const scored = listScoredAt(firstStates, R, response_ids, response_mask)
  return { tokens: token, ...stream, cu_seqlens, scored }
}

/** A scored token and all before it, from the one that predicts the first on, must be there. */
function checkScored(
  attention_mask: Uint32Array,
  response_mask: Float32Array,
  b: number,
  { width, response_length: R }: RowsSize,
): void {
  let last = R - 1
  while (last >= 0 && response_mask[b * R + last] === 0) last--
  for (let c = width - R - 1; c < width - R + last && last >= 0; c++)
    if (attention_mask[b * width + c] === 0)
      throw new ShapeError(
        `rows: response token ${last} of row ${b} is to be scored, but column ${c} before it is padding`,
      )
}

/** Uploads rows to a workspace. Returns the tokens of the stream: the live `tokens` of the passes
 * over it. */
export function uploadRows(
  gpu: Pick<Gpu, 'write'>,
  ws: Workspace,
  rows: Rows,
  useRemovePadding = false,
): number {
  const stream = layRows(rows, ws, useRemovePadding)
  gpu.write(ws.input_ids, stream.input_ids)
  gpu.write(ws.attention_mask, stream.attention_mask)
  gpu.write(ws.position_ids, stream.position_ids)
  gpu.write(ws.cu_seqlens, stream.cu_seqlens)
  gpu.write(ws.response.scored, stream.scored)
  gpu.write(ws.response.response_ids, rows.response_ids)
  gpu.write(ws.response.response_mask, rows.response_mask)
  return stream.tokens
}
