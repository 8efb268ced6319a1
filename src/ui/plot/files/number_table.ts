// Writes numbers as text: as a table on the page, and as files.
import { csvTable } from '../../../formats/text_tables.ts'

export interface NumberTable {
  readonly columns: readonly string[]
  /** What files call them, where the page has other names. */
  readonly keys?: readonly string[]
  /** A name, then one text per column. */
  readonly rows: readonly (readonly string[])[]
  /** What the rows are, and what was left out. */
  readonly note?: string
}

/** A number where a cell is nothing else; a minus sign may be the typographic one. */
function value(text: string): string | number {
  const plain = text.replaceAll('−', '-').replaceAll('\u00a0', ' ').trim()
  return plain !== '' && Number.isFinite(Number(plain)) ? Number(plain) : text
}

/** The table as it is shown. */
export const tableCsv = ({ columns, rows }: NumberTable): string =>
  csvTable([columns, ...rows].map((row) => row.map(value)))

/** An object per row. */
export const tableJsonl = ({ columns, rows }: NumberTable): string =>
  rows
    .map((row) => Object.fromEntries(columns.map((column, i) => [column, value(row[i] ?? '')])))
    .map((row) => `${JSON.stringify(row)}\n`)
    .join('')
