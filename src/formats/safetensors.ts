// Reads the tensors of a safetensors file; safetensors_header.ts describes the format.
import { ModelFileError, shown } from './errors.ts'
import { bitsOfHalf } from './float_bits.ts'
import {
  asStored,
  type Dtype,
  type OpenSafetensors,
  openSafetensors,
  type TensorEntry,
} from './safetensors_header.ts'

/** Row-major values: F32, F16, BF16 as Float32Array; F64 and I64 as Float64Array; U8 and BOOL as
 * Uint8Array. */
export type TensorData = Float32Array | Float64Array | Int32Array | Uint8Array

export interface SafeTensor {
  readonly dtype: Dtype
  readonly shape: readonly number[]
  readonly data: TensorData
}

/** Reads a whole file; `file` names it in errors. Throws ModelFileError for anything the format
 * does not allow. */
export function readSafetensors(
  bytes: Uint8Array,
  file: string,
): { tensors: Map<string, SafeTensor>; metadata: Readonly<Record<string, string>> } {
  const opened = openSafetensors(bytes, file)
  const tensors = new Map<string, SafeTensor>()
  for (const [name, { dtype, shape }] of opened.entries)
    tensors.set(name, { dtype, shape, data: readTensor(opened, name) })
  return { tensors, metadata: opened.metadata }
}

/** The values of one tensor of an open file. Throws ModelFileError for an I64 beyond 2^53 and a
 * BOOL beyond 1. */
export function readTensor(opened: OpenSafetensors, name: string): TensorData {
  const { dtype, size, begin, end } = entryOf(opened, name)
  const view = dataOf(opened, begin, end)
  if (dtype === 'I32')
    return Int32Array.from({ length: size }, (_, i) => view.getInt32(4 * i, true))
  if (dtype === 'F64')
    return Float64Array.from({ length: size }, (_, i) => view.getFloat64(8 * i, true))
  const bad = (i: number, expected: string, found: unknown): never => {
    throw new ModelFileError(
      opened.file,
      `tensor ${shown(name)}: expected ${expected}, found ${found} at element ${i}`,
    )
  }
  if (dtype === 'I64')
    return Float64Array.from({ length: size }, (_, i) => {
      const value = view.getBigInt64(8 * i, true)
      return Number.isSafeInteger(Number(value))
        ? Number(value)
        : bad(i, 'whole numbers within ±(2^53 - 1)', value)
    })
  if (dtype === 'U8' || dtype === 'BOOL') {
    const data = opened.bytes.slice(begin, end)
    const beyond = dtype === 'BOOL' ? data.findIndex((value) => value > 1) : -1
    return beyond < 0 ? data : bad(beyond, '0 or 1', data[beyond])
  }
  const data = new Float32Array(size)
  readFloats(opened, name, data)
  return data
}

/** Writes a tensor of floats (F64 is rounded) into `target`, which has its size. Throws
 * ModelFileError for other dtypes. */
export function readFloats(opened: OpenSafetensors, name: string, target: Float32Array): void {
  const { dtype, begin, end } = entryOf(opened, name)
  requireFloats(dtype, opened.file, name)
  decodeFloats(opened.bytes.subarray(begin, end), dtype, target)
}

/** Throws ModelFileError for a tensor whose numbers are no floats. */
export function requireFloats(dtype: Dtype, file: string, name: string): void {
  if (dtype !== 'F32' && dtype !== 'F16' && dtype !== 'BF16' && dtype !== 'F64')
    throw new ModelFileError(
      file,
      `tensor ${shown(name)}: expected floating-point weights (F32, F16, BF16, F64), found ${dtype}`,
    )
}

/** Floats as they lie in a file, at any address, into `target`, which has room for exactly them.
 * F64 is rounded. */
export function decodeFloats(stored: Uint8Array, dtype: Dtype, target: Float32Array): void {
  const same = asStored(target, dtype)
  if (same) {
    same.set(stored)
    return
  }
  const size = target.length
  // A DataView reads at any offset; a typed array would insist on alignment, which the format does
  // not promise.
  const view = new DataView(stored.buffer, stored.byteOffset, stored.byteLength)
  // Bits, not numbers: what a NaN carries survives too.
  const bits = new Uint32Array(target.buffer, target.byteOffset, size)
  if (dtype === 'F32') for (let i = 0; i < size; i++) bits[i] = view.getUint32(4 * i, true)
  else if (dtype === 'BF16')
    for (let i = 0; i < size; i++) bits[i] = view.getUint16(2 * i, true) << 16
  else if (dtype === 'F16')
    for (let i = 0; i < size; i++) bits[i] = bitsOfHalf(view.getUint16(2 * i, true))
  else for (let i = 0; i < size; i++) target[i] = view.getFloat64(8 * i, true)
}

function entryOf({ entries, file }: OpenSafetensors, name: string): TensorEntry {
  const entry = entries.get(name)
  if (!entry) throw new ModelFileError(file, `tensor ${shown(name)}: expected, found nothing`)
  return entry
}

const dataOf = ({ bytes }: OpenSafetensors, begin: number, end: number) =>
  new DataView(bytes.buffer, bytes.byteOffset + begin, end - begin)
