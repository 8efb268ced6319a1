// Reads Parquet through hyparquet; it and its decompressors are loaded with the first such file.

import { isParquet } from '../../../formats/first_bytes.ts'
import type { Reading } from '../table/bad_rows.ts'
import { type DataFile, DataFileError } from '../table/data_file.ts'
import { refuseColumns, refuseRows, type Table } from '../table/table.ts'
import { parseJson } from './json_numbers.ts'
import { bytesAsTheyAre, plainCell, withRawDecimals } from './parquet_cells.ts'
import { checkPages } from './parquet_pages.ts'
import type { Reader } from './reader.ts'

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
    const schema = parquetSchema(metadata).children
    const columns = schema.map(({ element }) => element.name)
    refuseColumns(name, columns.length)
    const twice = columns.find((column, i) => columns.indexOf(column) !== i)
    if (twice !== undefined)
      throw new DataFileError(`${name}: expected each column once, found '${twice}' twice`)
    checkPages(file, metadata, parquetHeader)
    let found: unknown[][] = []
    await parquetRead({
      file,
      columns,
      compressors,
      metadata: withRawDecimals(metadata),
      // Geometry is no text to learn from; its bytes are refused below.
      geoparquet: false,
      parsers: {
        ...bytesAsTheyAre,
        jsonFromBytes: (json: Uint8Array | undefined) =>
          json && parseJson(new TextDecoder().decode(json)),
      },
      onComplete: (rows) => {
        found = rows
      },
    })
    const places: number[] = []
    const rows = found.flatMap((row, r) => {
      try {
        const cells = columns.map((column, c) =>
          plainCell(row[c], schema[c], (what) => {
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

export const parquet: Reader = { extensions: ['parquet', 'pq'], isIt: isParquet, readBytes }
