// Reads ids.json of `lab probe`: rows of token ids, of one length or of several.
import { LabFailure } from '../base/command.ts'

/** Rows as a model takes them, all [rows][width]; position_ids = clip(cumsum(attention_mask) − 1,
 * 0), as in verl. */
export interface TokenRows {
  readonly input_ids: number[][]
  readonly attention_mask: number[][]
  readonly position_ids: number[][]
}

interface Vocabulary {
  readonly vocab_size: number
  /** What fills short rows; any id does, padding is never attended to. */
  readonly pad_token_id: number
}

/** Reads one list of ids, a list of lists (short rows are padded on the left), or {input_ids,
 * attention_mask} with either in input_ids and 0 or 1 for each id. `file` names the text in errors.
 * Throws LabFailure naming row, column and what is there. */
export function parseTokenRows(text: string, file: string, vocabulary: Vocabulary): TokenRows {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new LabFailure(`${file}: not JSON (${error instanceof Error ? error.message : error})`)
  }
  try {
    return tokenRows(value, vocabulary)
  } catch (error) {
    throw error instanceof RangeError ? new LabFailure(`${file}: ${error.message}`) : error
  }
}

function tokenRows(value: unknown, { vocab_size, pad_token_id }: Vocabulary): TokenRows {
  const isNamed = typeof value === 'object' && value !== null && !Array.isArray(value)
  const { input_ids, attention_mask }: { input_ids?: unknown; attention_mask?: unknown } = isNamed
    ? value
    : { input_ids: value }
  const ids = listOfRows(input_ids, isNamed ? 'input_ids' : 'ids')
  ids.forEach((row, r) => {
    if (row.length === 0) throw new RangeError(`row ${r}: expected token ids, found an empty list`)
    row.forEach((id, column) => {
      if (!isIdBelow(id, vocab_size))
        throw new RangeError(
          `row ${r}, column ${column}: expected a token id below vocab_size ${vocab_size}, found ${shown(id)}`,
        )
    })
  })
  const masks =
    attention_mask === undefined
      ? ids.map((row) => row.map(() => 1))
      : checkedMask(listOfRows(attention_mask, 'attention_mask'), ids)
  const width = Math.max(...ids.map(({ length }) => length))
  const padded = (rows: readonly unknown[][], fill: number) =>
    rows.map((row) => [...Array<number>(width - row.length).fill(fill), ...(row as number[])])
  const mask = padded(masks, 0)
  return {
    input_ids: padded(ids, pad_token_id),
    attention_mask: mask,
    position_ids: mask.map((row) => {
      let seen = 0
      return row.map((real) => {
        seen += real
        return Math.max(0, seen - 1)
      })
    }),
  }
}

function listOfRows(value: unknown, name: string): unknown[][] {
  const expected = `${name}: expected a list of token ids or a list of such lists`
  if (!Array.isArray(value)) throw new RangeError(`${expected}, found ${shown(value)}`)
  if (value.length === 0) throw new RangeError(`${expected}, found an empty list`)
  const lists = value.filter(Array.isArray).length
  if (lists === 0) return [value]
  if (lists === value.length) return value
  throw new RangeError(`${expected}, found lists and single ids side by side`)
}

function checkedMask(masks: unknown[][], ids: readonly unknown[][]): unknown[][] {
  if (masks.length !== ids.length)
    throw new RangeError(
      `attention_mask: expected ${ids.length} rows like input_ids, found ${masks.length}`,
    )
  masks.forEach((row, r) => {
    const at = `attention_mask, row ${r}`
    if (row.length !== ids[r].length)
      throw new RangeError(`${at}: expected ${ids[r].length} values, found ${row.length}`)
    const wrong = row.findIndex((x) => x !== 0 && x !== 1)
    if (wrong >= 0)
      throw new RangeError(`${at}, column ${wrong}: expected 0 or 1, found ${shown(row[wrong])}`)
    if (!row.includes(1)) throw new RangeError(`${at}: expected a 1 somewhere, found none`)
  })
  return masks
}

const isIdBelow = (id: unknown, vocab_size: number) =>
  typeof id === 'number' && Number.isInteger(id) && id >= 0 && id < vocab_size

/** A short description of what someone else's file holds. */
const shown = (value: unknown): string =>
  value === undefined ? 'nothing' : (JSON.stringify(value)?.slice(0, 40) ?? typeof value)
