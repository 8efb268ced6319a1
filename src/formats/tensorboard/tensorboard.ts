// Writes and reads TensorBoard's event files by hand: records of Event messages, and scalars in
// them. A record is length (8 bytes), its checksum, the message, its checksum
// (tensorflow/core/lib/io/record_writer.cc); the messages are protobuf
// (tensorflow/core/util/event.proto, framework/summary.proto, framework/tensor.proto).

import { maskedCrc32c } from './crc32c.ts'
import { varint } from './varint.ts'

/** A number of one step. */
export interface Scalar {
  readonly tag: string
  readonly step: number
  readonly value: number
}

const HEADER = 12
const FOOTER = 4

/** Bytes around a message. */
export function recordOf(message: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(HEADER + message.length + FOOTER)
  const view = new DataView(bytes.buffer)
  view.setBigUint64(0, BigInt(message.length), true)
  view.setUint32(8, maskedCrc32c(bytes.subarray(0, 8)), true)
  bytes.set(message, HEADER)
  view.setUint32(HEADER + message.length, maskedCrc32c(message), true)
  return bytes
}

const DOUBLE = 1
const LENGTH = 2
const FLOAT = 5
const key = (field: number, wire: number) => field * 8 + wire

/** A field of bytes: a text or a message. */
const part = (field: number, bytes: ArrayLike<number>): number[] => [
  key(field, LENGTH),
  ...varint(bytes.length),
  ...Array.from(bytes),
]
const utf8 = new TextEncoder()

function wallTime(seconds: number): number[] {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setFloat64(0, seconds, true)
  return [key(1, DOUBLE), ...bytes]
}

/** What every event file begins with. */
export const versionRecord = (writtenAt: number): Uint8Array<ArrayBuffer> =>
  recordOf(Uint8Array.from([...wallTime(writtenAt), ...part(3, utf8.encode('brain.Event:2'))]))

/** The metrics of one step as a record of simple values (float32); `writtenAt` in seconds since
 * 1970. */
export function scalarsRecord(
  writtenAt: number,
  step: number,
  metrics: Readonly<Record<string, number>>,
): Uint8Array<ArrayBuffer> {
  const values = Object.entries(metrics).flatMap(([tag, value]) => {
    const bytes = new Uint8Array(4)
    new DataView(bytes.buffer).setFloat32(0, value, true)
    return part(1, [...part(1, utf8.encode(tag)), key(2, FLOAT), ...bytes])
  })
  const event = [...wallTime(writtenAt), key(2, 0), ...varint(step), ...part(5, values)]
  return recordOf(Uint8Array.from(event))
}

/** A field of a message: a number for wires 0, 1 and 5, bytes for wire 2. */
type Field = readonly [field: number, value: number | Uint8Array]

/** The fields of a message. Throws RangeError where it is none. */
function* fieldsOf(bytes: Uint8Array): Generator<Field> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  const next = (): number => {
    let value = 0
    for (let scale = 1; scale <= 2 ** 63; scale *= 128) {
      const byte = view.getUint8(at++)
      value += (byte % 128) * scale
      if (byte < 128) return value
    }
    throw new RangeError('a number is too long')
  }
  const skip = (length: number): number => {
    at += length
    return at - length
  }
  while (at < bytes.length) {
    const head = next()
    const field = Math.floor(head / 8)
    const wire = head % 8
    if (wire === 0) yield [field, next()]
    else if (wire === DOUBLE) yield [field, view.getFloat64(skip(8), true)]
    else if (wire === FLOAT) yield [field, view.getFloat32(skip(4), true)]
    else if (wire === LENGTH) {
      const length = next()
      if (at + length > bytes.length) throw new RangeError('a field is longer than its message')
      yield [field, bytes.subarray(skip(length), at)]
    } else throw new RangeError(`there is no wire type ${wire}`)
  }
}

const text = new TextDecoder()
const bytesOf = (value: number | Uint8Array) => (typeof value === 'number' ? undefined : value)

/** The scalars of an Event; none in one of another kind. Throws RangeError for bytes that are no
 * message. */
export function scalarsOf(message: Uint8Array): Scalar[] {
  let step = 0
  const values: { tag: string; value: number }[] = []
  for (const [field, value] of fieldsOf(message)) {
    if (field === 2 && typeof value === 'number') step = value
    const summary = field === 5 ? bytesOf(value) : undefined
    if (!summary) continue
    for (const [inner, one] of fieldsOf(summary)) {
      const found = inner === 1 ? bytesOf(one) : undefined
      const scalar = found && scalarOf(found)
      if (scalar) values.push(scalar)
    }
  }
  return values.map((value) => ({ ...value, step }))
}

/** Summary.Value: tag 1, simple_value 2, tensor 8. */
function scalarOf(bytes: Uint8Array): { tag: string; value: number } | undefined {
  let tag = ''
  let number: number | undefined
  for (const [field, value] of fieldsOf(bytes)) {
    if (field === 1 && typeof value !== 'number') tag = text.decode(value)
    if (field === 2 && typeof value === 'number') number = value
    if (field === 8 && typeof value !== 'number') number = tensorScalar(value)
  }
  return number === undefined || tag === '' ? undefined : { tag, value: number }
}

/** The one number of a TensorProto of float32 (dtype 1) or float64 (2), in its content or its list
 * of values. */
function tensorScalar(bytes: Uint8Array): number | undefined {
  let dtype = 0
  let found: number | undefined
  for (const [field, value] of fieldsOf(bytes)) {
    if (field === 1 && typeof value === 'number') dtype = value
    if ((field === 5 || field === 6) && typeof value === 'number') found = value
    const packed = bytesOf(value)
    if (packed && (field === 4 || field === 5 || field === 6)) {
      const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength)
      if (dtype === 1 && packed.length === 4) found = view.getFloat32(0, true)
      if (dtype === 2 && packed.length === 8) found = view.getFloat64(0, true)
    }
  }
  return found
}
