// Parquet, through hyparquet; it and its decompressors are loaded with the first such file.
import type { Reading } from '../bad_rows.ts'
import { type DataFile, DataFileError } from '../data_file.ts'
import { type Cell, refuseColumns, refuseRows, type Table } from '../table.ts'
import { isParquet } from './bytes.ts'
import { checkPages } from './parquet_pages.ts'
import type { Reader } from './reader.ts'

/** Levels of lists and structures inside a cell. */
const MOST_DEPTH = 16

async function readBytes({ name, bytes }: DataFile, { onBadRow }: Reading): Promise<Table> {
  try {
    const [{ parquetMetadata, parquetRead, parquetSchema }, { parquetHeader }, { compressors }] =
      await Promise.all([
        import('hyparquet'),
        import('hyparquet/src/column.js'),
        import('hyparquet-compressors'),
      ])
    const file = bytes.slice().buffer
    const metadata = parquetMetadata(file)
    refuseRows(name, Number(metadata.num_rows))
    const columns = parquetSchema(metadata).children.map(({ element }) => element.name)
    refuseColumns(name, columns.length)
    const twice = columns.find((column, i) => columns.indexOf(column) !== i)
    if (twice !== undefined)
      throw new DataFileError(`${name}: expected each column once, found '${twice}' twice`)
    checkPages(file, metadata, parquetHeader)
    let found: unknown[][] = []
    await parquetRead({
      ...{ file, metadata, columns, compressors },
      // Geometry is no text to learn from; its bytes are refused below.
      geoparquet: false,
      onComplete: (rows) => {
        found = rows
      },
    })
    const places: number[] = []
    const rows = found.flatMap((row, r) => {
      try {
        const cells = columns.map((column, c) =>
          plainCell(row[c], (what) => {
            throw new DataFileError(`${name}: row ${r + 1}, column ${column}: ${what}`)
          }),
        )
        places.push(r + 1)
        return [cells]
      } catch (error) {
        if (!(error instanceof DataFileError)) throw error
        onBadRow(error.message)
        return []
      }
    })
    return { columns, rows, notes: [], placeOf: (row) => `row ${places[row]}` }
  } catch (error) {
    if (error instanceof DataFileError) throw error
    const why = error instanceof Error ? error.message : String(error)
    throw new DataFileError(
      `${name}: expected a Parquet file that can be read (${why.slice(0, 200)})`,
    )
  }
}

/** Whole numbers of 64 bits become numbers where they fit, else text; dates become ISO 8601; bytes are refused. */
function plainCell(value: unknown, refuse: (what: string) => never, depth = 0): Cell {
  if (depth > MOST_DEPTH) return refuse(`expected at most ${MOST_DEPTH} levels`)
  if (value === undefined || value === null) return null
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return value
  if (typeof value === 'bigint')
    return Number.isSafeInteger(Number(value)) ? Number(value) : `${value}`
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
  if (value instanceof Uint8Array) return refuse('expected text or numbers, found bytes')
  if (Array.isArray(value) || ArrayBuffer.isView(value))
    return Array.from(value as ArrayLike<unknown>, (item) => plainCell(item, refuse, depth + 1))
  if (typeof value !== 'object') return refuse(`expected text or numbers, found a ${typeof value}`)
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, plainCell(item, refuse, depth + 1)]),
  )
}

export const parquet: Reader = { extensions: ['parquet', 'pq'], isIt: isParquet, readBytes }
