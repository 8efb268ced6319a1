// Checks the pages of a Parquet file before they are read: hyparquet trusts their headers, and
// a damaged one would keep it busy for ever.
import type { FileMetaData } from 'hyparquet'

interface PageHeader {
  readonly compressed_page_size: number
  readonly uncompressed_page_size: number
  readonly data_page_header?: { readonly num_values: number }
  readonly dictionary_page_header?: { readonly num_values: number }
  readonly data_page_header_v2?: {
    readonly num_values: number
    readonly num_rows: number
    readonly num_nulls: number
    readonly definition_levels_byte_length: number
    readonly repetition_levels_byte_length: number
  }
}
type ReadHeader = (reader: { view: DataView; offset: number }) => PageHeader

/** Values of a page: more than any writer puts into one. */
const MOST_VALUES = 2 ** 24
/** Bytes of a page. */
const MOST_BYTES = 2 ** 29

/** Throws Error where a page does not lie inside its column, or says a size that cannot be. */
export function checkPages(file: ArrayBuffer, metadata: FileMetaData, read: ReadHeader): void {
  const isSize = (value: number, most: number) =>
    Number.isInteger(value) && value >= 0 && value <= most
  for (const { columns } of metadata.row_groups)
    for (const { meta_data: column } of columns) {
      if (!column) throw new Error('a column has no metadata')
      const { dictionary_page_offset: dictionary, data_page_offset: data } = column
      const start = Number(dictionary && dictionary < data ? dictionary : data)
      const view = new DataView(file, start, Number(column.total_compressed_size))
      const reader = { view, offset: 0 }
      while (reader.offset < view.byteLength - 1) {
        const header = read(reader)
        const {
          data_page_header: v1,
          data_page_header_v2: v2,
          dictionary_page_header: dict,
        } = header
        const { compressed_page_size: bytes, uncompressed_page_size: size } = header
        const counts = [v1, dict].flatMap((one) => (one ? [one.num_values] : []))
        if (v2) counts.push(v2.num_values, v2.num_rows, v2.num_nulls)
        const lengths = v2
          ? [v2.definition_levels_byte_length, v2.repetition_levels_byte_length]
          : []
        if (
          !isSize(bytes, view.byteLength - reader.offset) ||
          !isSize(size, MOST_BYTES) ||
          !counts.every((count) => isSize(count, MOST_VALUES)) ||
          !lengths.every((length) => isSize(length, bytes))
        )
          throw new Error('a page is damaged')
        reader.offset += bytes
      }
    }
}
