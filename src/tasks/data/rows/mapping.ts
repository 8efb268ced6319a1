// Turns the rows of a table into problems. propose.ts, or a person, has decided already which
// column is what.
import type { Json } from '../../task/json.ts'
import { type Reading, STRICT } from '../table/bad_rows.ts'
import { DataFileError, type Mapping } from '../table/data_file.ts'
import { type Cell, isObject, type Table } from '../table/table.ts'
import { cellsOf, hasColumn, plainJson, type Refuse } from './cells.ts'
import { makeRows, type Place } from './formats.ts'
import { ANSWERS, PROMPTS } from './propose.ts'
import type { DataRow } from './row.ts'

/** The rows that one row of a file comes to; undefined for a bad row. */
export type MappedRows = (readonly DataRow[] | undefined)[]

/** The rows of a table as problems. Throws DataFileError for a column that there is not. Without
 * `onBadRow` the first bad row is an error that names row and column. */
export function mapRows(
  table: Table,
  mapping: Mapping,
  file: string,
  { onBadRow }: Pick<Reading, 'onBadRow'> = STRICT,
): MappedRows {
  refuseMissing(table, mapping, file)
  const columns = new Map<string | null, readonly (Cell | undefined)[]>()
  const cell = (key: string | null, r: number) => {
    const known = columns.get(key) ?? cellsOf(table, key)
    columns.set(key, known)
    return known[r]
  }
  const place = (r: number): Place => ({
    cell: (key) => cell(key, r),
    refuse:
      (key): Refuse =>
      (what) => {
        throw new DataFileError(`${file}: ${table.placeOf(r)}, column ${key}: ${what}`)
      },
  })
  const firstAnswer = table.rows.findIndex((_, r) => (cell(mapping.answer_key, r) ?? null) !== null)
  const answer = firstAnswer < 0 ? undefined : cell(mapping.answer_key, firstAnswer)
  const isText = mapping.row_format === 'answers' && mapping.prompt_key === null
  return table.rows.map((cells, r) =>
    usable(() => {
      const source = cell(mapping.reward_fn_key, r)
      const info = cell('extra_info', r)
      const own = isText ? undefined : columnsOf(table, cells)
      return makeRows(mapping, place(r), answer).map((row) => ({
        ...row,
        ...(own && { columns: own }),
        ...(typeof source === 'string' && { data_source: source }),
        ...(isObject(info) && { extra_info: plainJson(info) as Readonly<Record<string, Json>> }),
      }))
    }, onBadRow),
  )
}

/** The cells of a row by the names of their columns. */
const columnsOf = ({ columns }: Table, cells: Table['rows'][number]) =>
  Object.fromEntries(columns.map((name, c) => [name, plainJson(cells[c] ?? null)]))

/** Throws DataFileError for a key that names no column, and where no column is what the rows
 * need. */
function refuseMissing(table: Table, mapping: Mapping, file: string): void {
  const { row_format, prompt_key, input_key, system_key, answer_key } = mapping
  const { chosen_key, rejected_key, label_key } = mapping
  const found = `found ${table.columns.slice(0, 12).join(', ')}`
  const needed = {
    answers: [],
    conversations: [['a conversation', prompt_key]],
    pairs: [
      ['the better answer (chosen)', chosen_key],
      ['the worse answer (rejected)', rejected_key],
    ],
    verdicts: [
      ['a prompt', prompt_key],
      ['a verdict (label)', label_key],
    ],
  }[row_format]
  const missing = needed.find(([, key]) => key === null)
  if (missing) throw new DataFileError(`${file}: expected a column with ${missing[0]}, ${found}`)
  if (row_format === 'answers' && prompt_key === null && answer_key === null)
    throw new DataFileError(
      `${file}: expected a column with prompts (${PROMPTS.join(', ')}) and one with right answers (${ANSWERS.join(', ')}), ${found}; choose them`,
    )
  const keys = [prompt_key, input_key, system_key, answer_key, chosen_key, rejected_key, label_key]
  const strange = keys.find((key) => key !== null && !hasColumn(table, key))
  if (strange) throw new DataFileError(`${file}: expected a column ${strange}, ${found}`)
}

/** What a row comes to; undefined where it is a bad one. */
export function usable<T>(make: () => T, onBadRow: Reading['onBadRow']): T | undefined {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof DataFileError)) throw error
    onBadRow(error.message)
    return undefined
  }
}
