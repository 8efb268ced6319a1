// What a file is by its bytes, whatever its name says; and bytes as text.
import { DataFileError } from '../data_file.ts'

/** Files that are no data set, by how they begin, and what to do. */
const FOREIGN: readonly (readonly [bytes: readonly number[], what: string])[] = [
  [
    [0x50, 0x4b, 3, 4],
    'a zip archive (so are .xlsx and .docx); unpack it, or save the sheet as CSV',
  ],
  [[0x1f, 0x8b], 'compressed with gzip; unpack it first'],
  [[0x28, 0xb5, 0x2f, 0xfd], 'compressed with zstd; unpack it first'],
  [[0x42, 0x5a, 0x68], 'compressed with bzip2; unpack it first'],
  [[0xfd, 0x37, 0x7a, 0x58, 0x5a], 'compressed with xz; unpack it first'],
  [[0x37, 0x7a, 0xbc, 0xaf], 'a 7z archive; unpack it first'],
  [[...'%PDF'].map((c) => c.charCodeAt(0)), 'a PDF'],
  [[...'ARROW1'].map((c) => c.charCodeAt(0)), 'an Arrow file; save it as Parquet'],
  [[...'SQLite format 3'].map((c) => c.charCodeAt(0)), 'an SQLite database; save the table as CSV'],
  [[0xd0, 0xcf, 0x11, 0xe0], 'an old Office file; save the sheet as CSV'],
  [[0x89, 0x50, 0x4e, 0x47], 'an image'],
  [[0xff, 0xd8, 0xff], 'an image'],
]

const beginsWith = (bytes: Uint8Array, start: readonly number[]) =>
  start.every((byte, i) => bytes[i] === byte)

const PARQUET = [...'PAR1'].map((c) => c.charCodeAt(0))
export const isParquet = (bytes: Uint8Array): boolean => beginsWith(bytes, PARQUET)

/** Refuses what is no data file by its bytes: archives, images, web pages. Throws DataFileError that says what it is. */
export function refuseForeign(file: string, bytes: Uint8Array): void {
  if (bytes.length === 0) throw new DataFileError(`${file}: expected rows, found an empty file`)
  const found = FOREIGN.find(([start]) => beginsWith(bytes, start))
  if (found) throw new DataFileError(`${file}: expected a data file, found ${found[1]}`)
}

const lineOf = (bytes: Uint8Array, at: number): number => {
  let line = 1
  for (let i = 0; i < at; i++) if (bytes[i] === 0x0a) line++
  return line
}

/** Index of the first byte that is no UTF-8; a text cut there is well formed. */
function firstBroken(bytes: Uint8Array): number {
  let [from, to] = [0, bytes.length]
  const holds = (length: number) => {
    try {
      new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, length), { stream: true })
      return true
    } catch {
      return false
    }
  }
  while (to - from > 1) {
    const middle = Math.floor((from + to) / 2)
    if (holds(middle)) from = middle
    else to = middle
  }
  return from
}

/**
 * The text of a file: UTF-8 with or without a byte order mark, or UTF-16 with one. Throws DataFileError for anything else, with the line where
 * the text breaks.
 */
export function textOf(file: string, bytes: Uint8Array): string {
  const utf16 = beginsWith(bytes, [0xff, 0xfe])
    ? 'utf-16le'
    : beginsWith(bytes, [0xfe, 0xff])
      ? 'utf-16be'
      : undefined
  let text: string
  try {
    text = new TextDecoder(utf16 ?? 'utf-8', { fatal: true }).decode(bytes)
  } catch {
    if (utf16)
      throw new DataFileError(`${file}: begins as UTF-16 text and breaks off; save it as UTF-8`)
    const line = lineOf(bytes, firstBroken(bytes))
    throw new DataFileError(
      `${file}: line ${line}: expected UTF-8 text, found bytes of another encoding; save it as UTF-8`,
    )
  }
  const zero = text.indexOf('\0')
  if (zero >= 0) {
    const every_other = bytes.length > 3 && (bytes[0] === 0) !== (bytes[1] === 0)
    throw new DataFileError(
      every_other
        ? `${file}: expected UTF-8, found what looks like UTF-16 without its mark; save it as UTF-8`
        : `${file}: line ${text.slice(0, zero).split('\n').length}: expected text, found binary data`,
    )
  }
  if (/^\s*<(!doctype html|html|head|body|\?xml)/i.test(text.slice(0, 200)))
    throw new DataFileError(
      `${file}: expected a data file, found a web page; download the file itself (on a hub: the “raw” or “resolve” address)`,
    )
  return text
}
