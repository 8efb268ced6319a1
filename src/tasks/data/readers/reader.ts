// Declares a format of data files. One file and one line in the list (readers.ts) add another.
import type { Reading } from '../table/bad_rows.ts'
import type { DataFile } from '../table/data_file.ts'
import type { Table } from '../table/table.ts'

/** A format whose bytes are text. */
interface TextReader {
  readonly extensions: readonly string[]
  /** Throws DataFileError naming file, row and column. */
  readonly readText: (text: string, file: string, reading: Reading) => Table
}

/** A format of its own bytes. */
interface BytesReader {
  readonly extensions: readonly string[]
  readonly isIt: (bytes: Uint8Array) => boolean
  /** Throws DataFileError naming file, row and column. */
  readonly readBytes: (file: DataFile, reading: Reading) => Promise<Table>
}

export type Reader = TextReader | BytesReader
