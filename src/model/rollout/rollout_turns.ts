// Follows rows that write in turns: where each of them is, what was forced into it, and which of
// its columns hold its response.
//
// All rows decode the same column at a time, and the CPU looks at them every few columns. A row
// that has ended its turn leaves its columns empty (attention_mask 0) until then. Its last token,
// which no step has put into the cache, is forced once more in front of what follows. Where a row
// waits depends on its own tokens alone, so they do not depend on its neighbours.
import { ShapeError } from '../../kernels/device/base/errors.ts'
import { decodedColumns, type RolloutSize } from './rollout_inputs.ts'

/** What one row wrote in its turn, up to and including the token that ended it. */
export interface Turn {
  readonly row: number
  readonly ids: readonly number[]
}

/** Answers a turn with the tokens to force before the row writes again; undefined: the row is
 * done. */
export type Reply = (turn: Turn) => Promise<readonly number[] | undefined>

/** Responses [B, R] without the columns that were left empty. */
export interface TurnResponses {
  readonly response_ids: Uint32Array
  /** Tokens of each row, [B]. */
  readonly response_lengths: Uint32Array
  /** The column in which the policy wrote each token, or NOT_WRITTEN: forced, or beyond the
   * response; [B, R]. */
  readonly columns: Int32Array
}

const NOT_WRITTEN = -1

interface Row {
  /** Tokens of the response so far. */
  length: number
  /** The first column whose token is the policy's own. */
  writesFrom: number
  /** Where its last token lies. */
  lastColumn: number
  turns: number
  turn: number[]
  is_done: boolean
}

export class RowTurns implements TurnResponses {
  readonly response_ids: Uint32Array
  readonly response_lengths: Uint32Array
  readonly columns: Int32Array
  /** [B, decoded columns]: the token + 1, or 0. */
  readonly forced: Uint32Array
  /** [B, P + decoded columns] */
  readonly attention_mask: Uint32Array
  /** [decoded columns, stride] */
  readonly positions: Uint32Array
  #size: RolloutSize
  #width: number
  #stops: ReadonlySet<number>
  #rows: readonly Row[]

  /** `attention_mask` and `positions` of a batch without forced tokens; both are changed. */
  constructor(
    size: RolloutSize,
    stopTokenIds: readonly number[],
    padTokenId: number,
    layout: { readonly attention_mask: Uint32Array; readonly positions: Uint32Array },
  ) {
    const { rows: B, response_length: R } = size
    this.#size = size
    this.#width = decodedColumns(size)
    this.#stops = new Set(stopTokenIds)
    this.#rows = Array.from({ length: B }, () => ({
      length: 0,
      writesFrom: 0,
      lastColumn: 0,
      turns: 1,
      is_done: false,
      turn: [],
    }))
    this.response_ids = new Uint32Array(B * R).fill(padTokenId)
    this.response_lengths = new Uint32Array(B)
    this.columns = new Int32Array(B * R).fill(NOT_WRITTEN)
    this.forced = new Uint32Array(B * this.#width)
    this.attention_mask = layout.attention_mask
    this.positions = layout.positions
  }

  get is_done(): boolean {
    return this.#rows.every(({ is_done }) => is_done)
  }

  /** Takes the tokens of columns first … end − 1 from `ids`, [B, decoded columns]. Returns the
   * turns that ended in them. */
  take(ids: Uint32Array, first: number, end: number): Turn[] {
    const { response_length: R, prompt_length: P } = this.#size
    const [W, T] = [this.#width, P + this.#width]
    return this.#rows.flatMap((row, b): Turn[] => {
      let hasEnded = false
      for (let column = first; column < end; column++) {
        const isWritten = !row.is_done && !hasEnded && column >= row.writesFrom
        const isForced = this.forced[b * W + column] !== 0
        this.attention_mask[b * T + P + column] = isWritten || isForced ? 1 : 0
        if (!isWritten) continue
        const id = ids[b * W + column]
        row.lastColumn = column
        this.#put(b, id, column)
        row.turn.push(id)
        hasEnded = this.#stops.has(id) || row.length === R
      }
      return hasEnded ? [{ row: b, ids: row.turn }] : []
    })
  }

  /** Ends a row whose turn has ended, or forces these tokens into it from `column` on. */
  answer(b: number, ids: readonly number[] | undefined, column: number): void {
    const row = this.#rows[b]
    if (ids === undefined) {
      row.is_done = true
      return
    }
    const { prompt_length: P, max_turns = 1, rows: B } = this.#size
    const [W, T] = [this.#width, P + this.#width]
    const stride = this.positions.length / W
    row.turns++
    if (row.turns > max_turns || column + 1 + ids.length >= W)
      throw new ShapeError(`rollout: row ${b} has no room for turn ${row.turns} of ${max_turns}`)
    const last = row.turn.at(-1) ?? 0
    this.attention_mask[b * T + P + row.lastColumn] = 0
    const position = this.positions[row.lastColumn * stride + b]
    for (let c = column; c < W && b < B; c++) this.positions[c * stride + b] = position + c - column
    this.forced[b * W + column] = last + 1
    ids.forEach((id, i) => {
      this.forced[b * W + column + 1 + i] = id + 1
      this.#put(b, id, NOT_WRITTEN)
    })
    row.writesFrom = column + 1 + ids.length
    row.turn = []
  }

  #put(b: number, id: number, column: number): void {
    const row = this.#rows[b]
    const at = b * this.#size.response_length + row.length
    this.response_ids[at] = id
    this.columns[at] = column
    row.length++
    this.response_lengths[b] = row.length
  }
}

/** Numbers of the decoded columns, [B, decoded columns], as those of responses, [B, R]: 0 where the
 * policy did not write. */
export function gathered(
  values: Float32Array,
  { columns }: TurnResponses,
  size: RolloutSize,
): Float32Array {
  const W = decodedColumns(size)
  return Float32Array.from(columns, (column, i) =>
    column === NOT_WRITTEN ? 0 : values[Math.floor(i / size.response_length) * W + column],
  )
}

/** 1 in the decoded columns whose token is part of a response and was written by the policy; [B,
 * decoded columns]. */
export function writtenColumns({ columns }: TurnResponses, size: RolloutSize): Float32Array {
  const W = decodedColumns(size)
  const written = new Float32Array(size.rows * W)
  columns.forEach((column, i) => {
    if (column !== NOT_WRITTEN) written[Math.floor(i / size.response_length) * W + column] = 1
  })
  return written
}
