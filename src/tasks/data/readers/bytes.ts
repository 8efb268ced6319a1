// Tells a file's kind by its bytes, whatever its name says, and decodes bytes as text.
import { foreignFile, foreignWords, HEAD_BYTES } from '../../../formats/first_bytes.ts'
import { DataFileError } from '../table/data_file.ts'

/** A file of plain text may be a path, or anything else that is no rows. */
const PLAIN = /\.(txt|text|md)$/i

/** Refuses what is no data file by its bytes: pointers, archives, images, web pages. Throws
 * DataFileError that says what it is. */
export function refuseForeign(file: string, bytes: Uint8Array): void {
  if (bytes.length === 0) throw new DataFileError(`${file}: expected rows, found an empty file`)
  const found = foreignFile(bytes.subarray(0, HEAD_BYTES), bytes.length)
  if (!found || (PLAIN.test(file) && found.isPath)) return
  throw new DataFileError(`${file}: expected a data file, found ${foreignWords(found)}`)
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

/** Bytes that no encoding of text has, other than the zeros of UTF-16. */
const isBinary = (head: Uint8Array): boolean =>
  head.some((byte) => (byte > 0 && byte < 9) || (byte > 13 && byte < 27))

/** The text of a file: UTF-8 with or without a byte order mark, or UTF-16 with one. Throws
 * DataFileError for anything else, with the line where the text breaks. */
export function textOf(file: string, bytes: Uint8Array): string {
  const mark = bytes[0] * 256 + bytes[1]
  const utf16 = mark === 0xfffe ? 'utf-16le' : mark === 0xfeff ? 'utf-16be' : undefined
  let text: string
  try {
    text = new TextDecoder(utf16 ?? 'utf-8', { fatal: true }).decode(bytes)
  } catch {
    if (utf16)
      throw new DataFileError(`${file}: begins as UTF-16 text and breaks off; save it as UTF-8`)
    if (isBinary(bytes.subarray(0, HEAD_BYTES)))
      throw new DataFileError(`${file}: expected text, found binary data; choose another file`)
    const line = lineOf(bytes, firstBroken(bytes))
    throw new DataFileError(
      `${file}: line ${line}: expected UTF-8 text, found bytes of another encoding; save it as UTF-8`,
    )
  }
  const zero = text.indexOf('\0')
  if (zero >= 0) {
    const everyOther = bytes.length > 3 && (bytes[0] === 0) !== (bytes[1] === 0)
    throw new DataFileError(
      everyOther
        ? `${file}: expected UTF-8, found what looks like UTF-16 without its mark; save it as UTF-8`
        : `${file}: line ${text.slice(0, zero).split('\n').length}: expected text, found binary data`,
    )
  }
  return text
}
