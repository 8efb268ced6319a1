// Declares a table as it was read from a file.
import type { FoundBad } from './bad_rows.ts'
import type { Table } from './table.ts'

/** A table with its file's name. */
export interface NamedTable {
  readonly name: string
  readonly table: Table
  /** Rows of the file that the table lacks, because they could not be read. */
  readonly bad: FoundBad
}
