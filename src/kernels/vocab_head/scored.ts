// Lists the state that is read for each response token: the list that the vocabulary head and the
// value head walk over.

/** Numbers per entry of a list: state, slot, id, isScored. */
export const SCORED_COLUMNS = 4

/** The response tokens of a batch, S = B·R of them. Entry (state, slot, id, isScored): the token's
 * id is `id`, the row of `hidden` that predicts it is `state`, its place in the [B, R] arrays is
 * `slot`; isScored is 1 or 0. Every slot is listed once, scored tokens first. State and id of a
 * token with isScored 0 are not used. */
export interface ScoredTokens {
  /** S */
  readonly tokens: number
  /** [S, 4] */
  readonly scored: Uint32Array
}

/** A padded batch [B, T]. */
export interface PaddedSize {
  /** B */
  readonly rows: number
  /** T */
  readonly width: number
  /** Column whose state predicts the first response token: P - 1. */
  readonly first_column: number
  /** R */
  readonly response_length: number
}

/** The list for a padded [B, T] layout: response token t of row b is predicted by state b·width +
 * first_column + t.
 *
 * response_ids, response_mask [B, R] → [B·R, 4], in row-major order, those with response_mask 0
 * moved to the end with state 0. Throws RangeError for arrays of another length and for a response
 * that leaves its row. */
export function listScored(
  { rows, width, first_column, response_length }: PaddedSize,
  responseIds: ArrayLike<number>,
  responseMask: ArrayLike<number>,
): Uint32Array {
  if (!(first_column >= 0 && first_column + response_length <= width))
    throw new RangeError(
      `listScored: expected columns ${first_column} to ${first_column + response_length - 1} to lie in a row of ${width}`,
    )
  const firstStates = Array.from({ length: rows }, (_, b) => b * width + first_column)
  return listScoredAt(firstStates, response_length, responseIds, responseMask)
}

/** As listScored, with row b's first predicting state at firstStates[b]: for rows packed without
 * their padding.
 *
 * firstStates [B], response_ids, response_mask [B, R] → [B·R, 4]. A row without scored tokens may
 * have any first state. */
export function listScoredAt(
  firstStates: ArrayLike<number>,
  response_length: number,
  responseIds: ArrayLike<number>,
  responseMask: ArrayLike<number>,
): Uint32Array {
  const tokens = firstStates.length * response_length
  checkLength('response_ids', responseIds, tokens)
  checkLength('response_mask', responseMask, tokens)
  const list = new Uint32Array(tokens * SCORED_COLUMNS)
  let entry = 0
  const add = (slot: number, state: number, isScored: 0 | 1) => {
    list.set([state, slot, responseIds[slot], isScored], entry)
    entry += SCORED_COLUMNS
  }
  for (let slot = 0; slot < tokens; slot++)
    if (responseMask[slot] !== 0) add(slot, stateOf(firstStates, response_length, slot), 1)
  for (let slot = 0; slot < tokens; slot++) if (responseMask[slot] === 0) add(slot, 0, 0)
  return list
}

function stateOf(firstStates: ArrayLike<number>, response_length: number, slot: number): number {
  const b = Math.floor(slot / response_length)
  const first = firstStates[b]
  if (!Number.isSafeInteger(first) || first < 0)
    throw new RangeError(
      `listScored: expected first_states[${b}] to be a row of hidden, got ${first}`,
    )
  return first + (slot % response_length)
}

function checkLength(name: string, values: ArrayLike<number>, expected: number): void {
  if (values.length !== expected)
    throw new RangeError(`listScored: expected ${expected} ${name}, got ${values.length}`)
}
