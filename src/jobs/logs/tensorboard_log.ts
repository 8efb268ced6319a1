// Reads a TensorBoard event file, record by record.
import { maskedCrc32c } from '../../formats/tensorboard/crc32c.ts'
import { scalarsOf } from '../../formats/tensorboard/tensorboard.ts'
import { type ImportedLog, isStep, LogError, LogRows } from './base/imported_log.ts'
import type { Pieces } from './base/lines.ts'

const HEADER = 12
const FOOTER = 4
/** Bytes of a record at most; a larger one holds an image or a graph, or is none. */
const LARGEST_RECORD = 64_000_000

/** Throws LogError where no scalar was found, or where the file is no event file. */
export async function readTensorBoardLog(pieces: Pieces): Promise<ImportedLog> {
  const rows = new LogRows()
  let count = 0
  for await (const message of recordsOf(pieces, rows)) {
    count++
    try {
      for (const { tag, step, value } of message ? scalarsOf(message) : [])
        if (isStep(step)) rows.put(tag, step, value)
      if (!message) rows.skip(`record ${count}`)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      rows.skip(`record ${count}`)
    }
  }
  return rows.finish('tensorboard')
}

/** Messages of records; undefined for one whose bytes have changed. Stops where the length of one
 * cannot be believed. */
async function* recordsOf(pieces: Pieces, rows: LogRows): AsyncGenerator<Uint8Array | undefined> {
  let bytes = new Uint8Array()
  let isFirst = true
  for await (const piece of pieces) {
    const joined = new Uint8Array(bytes.length + piece.length)
    joined.set(bytes)
    joined.set(piece, bytes.length)
    bytes = joined
    let at = 0
    while (bytes.length - at >= HEADER) {
      const view = new DataView(bytes.buffer, bytes.byteOffset + at)
      const length = Number(view.getBigUint64(0, true))
      const isSound = view.getUint32(8, true) === maskedCrc32c(bytes.subarray(at, at + 8))
      if (!isSound || length > LARGEST_RECORD) {
        if (isFirst) throw new LogError('The file is no event file of TensorBoard.')
        rows.cut()
        return
      }
      isFirst = false
      if (bytes.length - at < HEADER + length + FOOTER) break
      const message = bytes.subarray(at + HEADER, at + HEADER + length)
      const isWhole = view.getUint32(HEADER + length, true) === maskedCrc32c(message)
      yield isWhole ? message : undefined
      at += HEADER + length + FOOTER
    }
    bytes = bytes.slice(at)
  }
  if (bytes.length > 0) {
    if (isFirst) throw new LogError('The file is no event file of TensorBoard.')
    rows.cut()
  }
}
