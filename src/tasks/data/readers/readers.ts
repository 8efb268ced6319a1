// Reads any data file as a table: its format is told by its bytes, then by its name.
import { BadRows, type Reading, STRICT } from '../table/bad_rows.ts'
import { type DataFile, DataFileError, extensionOf } from '../table/data_file.ts'
import type { NamedTable } from '../table/named_table.ts'
import type { Table } from '../table/table.ts'
import { refuseForeign, textOf } from './bytes.ts'
import { csv } from './csv.ts'
import { json } from './json.ts'
import { jsonl } from './jsonl.ts'
import { parquet } from './parquet.ts'
import { plainText } from './plain_text.ts'
import type { Reader } from './reader.ts'

const READERS: readonly Reader[] = [jsonl, json, csv, parquet, plainText]

/** What a file picker offers, without dots. */
const DATA_EXTENSIONS: readonly string[] = READERS.flatMap(({ extensions }) => extensions)

/** Whether a file is one of these formats by its name. */
export const isDataFile = (name: string): boolean => DATA_EXTENSIONS.includes(extensionOf(name))

/** Reads a data file, and takes down its rows that cannot be used. Throws DataFileError for a file
 * without any other. */
export async function readRows(
  { name, bytes }: DataFile,
  onProgress?: Reading['onProgress'],
): Promise<NamedTable> {
  const bad = new BadRows()
  try {
    const table = await readTable({ name, bytes }, { onBadRow: bad.add, onProgress })
    return { name, table, bad }
  } catch (error) {
    // What is wrong with its rows says more than that there are none.
    throw bad.count > 0 ? new DataFileError(bad.first[0]) : error
  }
}

/** Reads a data file. Throws DataFileError, and nothing else, for one that is none: the message
 * says what it is, and row and column where it breaks. */
export async function readTable(file: DataFile, reading: Reading = STRICT): Promise<Table> {
  const { name, bytes } = file
  refuseForeign(name, bytes)
  const own = READERS.find((reader) => 'isIt' in reader && reader.isIt(bytes))
  if (own && 'readBytes' in own) return withRows(name, await own.readBytes(file, reading))
  const text = textOf(name, bytes)
  if (text.trim() === '')
    throw new DataFileError(`${name}: expected rows, found nothing but spaces`)
  const reader = READERS.find((one) => one.extensions.includes(extensionOf(name)))
  if (reader && 'isIt' in reader)
    throw new DataFileError(`${name}: expected a Parquet file, found text`)
  const chosen = reader ?? byText(text)
  // A list of objects under the name of JSON lines.
  const format = chosen === jsonl && /^\s*\[/.test(text) ? json : chosen
  const { readText } = format as Extract<Reader, { readText: unknown }>
  return withRows(name, readText(text, name, reading))
}

/** The format of a text whose name says none. */
function byText(text: string): Reader {
  const start = text.trimStart()[0]
  if (start === '[') return json
  if (start === '{') return /^\s*\{.*\}\s*$/m.test(text.slice(0, 100_000)) ? jsonl : json
  return plainText
}

function withRows(name: string, table: Table): Table {
  if (table.rows.length === 0)
    throw new DataFileError(`${name}: expected one row or more, found none`)
  return table
}
