// Writes tensors into a safetensors file; safetensors_header.ts describes the format.
import { bfloatOfBits, bitsOfFloat, halfOfBits } from './float_bits.ts'
import {
  asStored,
  DTYPE_BYTES,
  type Dtype,
  type FloatDtype,
  METADATA,
} from './safetensors_header.ts'

/** A tensor to be written, in the dtype of the file unless it says another one. */
export interface WrittenTensor {
  readonly shape: readonly number[]
  readonly data: ArrayLike<number>
  readonly as?: 'F64' | 'I32'
}

/** A file before its data is written: what comes first in it, and what follows in which order. */
interface PlannedFile {
  /** The length of the header and the header itself. */
  readonly head: Uint8Array<ArrayBuffer>
  readonly tensors: readonly (Pick<WrittenTensor, 'data'> & { readonly dtype: Dtype })[]
  /** Bytes of the whole file. */
  readonly size: number
}

/** Bytes of one piece of a streamed file at most. */
const PIECE_BYTES = 2 ** 22

/** Orders tensors as Hugging Face does: wide dtypes first and then by name, so that every tensor is
 * aligned, the header padded with spaces to 8 bytes. Throws RangeError for a repeated or reserved
 * name and for a shape that is not the data's. */
function planned(
  tensors: Iterable<readonly [string, WrittenTensor]>,
  metadata: Readonly<Record<string, string>>,
  dtype: FloatDtype,
): PlannedFile {
  const sorted = [...tensors].map(
    ([name, tensor]) => [name, { ...tensor, dtype: tensor.as ?? dtype }] as const,
  )
  sorted.sort(([a, x], [b, y]) => widthOf(y) - widthOf(x) || (a < b ? -1 : a > b ? 1 : 0))
  const names = new Set<string>([METADATA])
  let end = 0
  const listed = sorted.map(([name, tensor]) => {
    const { shape, data } = tensor
    if (names.has(name)) throw new RangeError(`${name}: expected another name for a tensor`)
    names.add(name)
    if (shape.reduce((a, b) => a * b, 1) !== data.length)
      throw new RangeError(`${name}: expected values of shape [${shape}], got ${data.length}`)
    const begin = end
    end += data.length * widthOf(tensor)
    return [name, { dtype: tensor.dtype, shape, data_offsets: [begin, end] }] as const
  })
  const header = JSON.stringify({ [METADATA]: metadata, ...Object.fromEntries(listed) })
  const text = new TextEncoder().encode(header)
  const start = 8 + Math.ceil(text.length / 8) * 8
  const head = new Uint8Array(start).fill(' '.charCodeAt(0), 8)
  head.set(text, 8)
  new DataView(head.buffer).setUint32(0, start - 8, true)
  return { head, tensors: sorted.map(([, tensor]) => tensor), size: start + end }
}

/** What comes before the values of float32 tensors that are written one after the other, and the
 * order that they have there. */
export function safetensorsHead(
  tensors: Iterable<{
    readonly name: string
    readonly shape: readonly number[]
    readonly size: number
  }>,
): { readonly head: Uint8Array<ArrayBuffer>; readonly names: readonly string[] } {
  const sized = [...tensors].map(({ name, shape, size }) => {
    const data: ArrayLike<number> = { length: size }
    return [name, { shape, data }] as const
  })
  const { head } = planned(sized, { format: 'pt' }, 'F32')
  return { head, names: sized.map(([name]) => name).sort() }
}

/** A whole file in memory. `metadata` as transformers wants it. Throws RangeError for a repeated or
 * reserved name and for a shape that is not the data's. */
export function writeSafetensors(
  tensors: Iterable<readonly [string, WrittenTensor]>,
  metadata: Readonly<Record<string, string>> = { format: 'pt' },
  dtype: FloatDtype = 'F32',
): Uint8Array<ArrayBuffer> {
  const { head, tensors: sorted, size } = planned(tensors, metadata, dtype)
  const bytes = new Uint8Array(size)
  bytes.set(head)
  let at = head.length
  for (const tensor of sorted) {
    const length = tensor.data.length * widthOf(tensor)
    writeValues(tensor, bytes.subarray(at, at + length))
    at += length
  }
  return bytes
}

/** The bytes of the same file in pieces of a few megabytes, each made when it is asked for: nothing
 * of the size of the model is copied. Throws RangeError as writeSafetensors does, before the first
 * piece. */
export function* safetensorsPieces(
  tensors: Iterable<readonly [string, WrittenTensor]>,
  metadata: Readonly<Record<string, string>> = { format: 'pt' },
  dtype: FloatDtype = 'F32',
): Generator<Uint8Array<ArrayBuffer>> {
  const { head, tensors: sorted } = planned(tensors, metadata, dtype)
  yield head
  for (const tensor of sorted) {
    const width = widthOf(tensor)
    const step = PIECE_BYTES / width
    for (let first = 0; first < tensor.data.length; first += step) {
      const data = partOf(tensor.data, first, Math.min(tensor.data.length, first + step))
      const piece = new Uint8Array(data.length * width)
      writeValues({ data, dtype: tensor.dtype }, piece)
      yield piece
    }
  }
}

/** Some of the values; a view where they lie in one of the arrays that have views. */
const partOf = (data: ArrayLike<number>, first: number, end: number): ArrayLike<number> =>
  data instanceof Float32Array || data instanceof Float64Array || data instanceof Int32Array
    ? data.subarray(first, end)
    : Array.prototype.slice.call(data, first, end)

const widthOf = ({ dtype }: { readonly dtype: Dtype }): number => DTYPE_BYTES[dtype]

function writeValues(
  { data, dtype }: Pick<WrittenTensor, 'data'> & { readonly dtype: Dtype },
  into: Uint8Array<ArrayBuffer>,
): void {
  const stored = asStored(data, dtype)
  if (stored) {
    into.set(stored)
    return
  }
  const view = new DataView(into.buffer, into.byteOffset, into.byteLength)
  const width = DTYPE_BYTES[dtype]
  for (let i = 0, at = 0; i < data.length; i++, at += width) {
    if (dtype === 'F64') view.setFloat64(at, data[i], true)
    else if (dtype === 'I32') view.setInt32(at, data[i], true)
    else if (dtype === 'F32') view.setUint32(at, bitsOfFloat(data[i]), true)
    else {
      const bits = bitsOfFloat(data[i])
      view.setUint16(at, dtype === 'F16' ? halfOfBits(bits) : bfloatOfBits(bits), true)
    }
  }
}
