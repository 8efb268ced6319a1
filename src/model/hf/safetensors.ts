// Hugging Face's file of named tensors: 8 bytes of header length, a JSON header, the data. Little-endian throughout.
// Source: https://github.com/huggingface/safetensors (format section of the README, and what tensor.rs accepts).

import { isObject, type JsonObject, ModelFileError, shown } from '../params/errors.ts'
import { bfloatOfBits, bitsOfFloat, bitsOfHalf, halfOfBits } from './float_bits.ts'

/** Bytes per element of the dtypes that are read. */
const DTYPE_BYTES = { F64: 8, F32: 4, F16: 2, BF16: 2, I64: 8, I32: 4, U8: 1, BOOL: 1 } as const

export type Dtype = keyof typeof DTYPE_BYTES

/** The dtypes that weights are stored in. */
export type FloatDtype = 'F32' | 'F16' | 'BF16'

/** What the header says about one tensor. */
export interface TensorEntry {
  readonly dtype: Dtype
  readonly shape: readonly number[]
  /** Elements. */
  readonly size: number
  /** First byte in the file, and the byte after the last. */
  readonly begin: number
  readonly end: number
}

/** A file whose header has been checked and whose tensors have not been read yet. */
export interface OpenSafetensors {
  readonly file: string
  readonly bytes: Uint8Array
  readonly entries: ReadonlyMap<string, TensorEntry>
  readonly metadata: Readonly<Record<string, string>>
}

/** Row-major values: F32, F16, BF16 as Float32Array; F64 and I64 as Float64Array; U8 and BOOL as Uint8Array. */
export type TensorData = Float32Array | Float64Array | Int32Array | Uint8Array

export interface SafeTensor {
  readonly dtype: Dtype
  readonly shape: readonly number[]
  readonly data: TensorData
}

const METADATA = '__metadata__'
/** As in the reference reader. */
const LARGEST_HEADER = 100_000_000
/** { tensor: { shape: [ … ] } } */
const DEEPEST_HEADER = 3

/** Reads a whole file; `file` names it in errors. Throws ModelFileError for anything the format does not allow. */
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

/**
 * Reads and checks the header alone. As in the reference reader, the tensors cover the data exactly: no byte twice, none
 * left over. Throws ModelFileError.
 */
export function openSafetensors(bytes: Uint8Array, file: string): OpenSafetensors {
  const fail = (message: string): never => {
    throw new ModelFileError(file, message)
  }
  if (bytes.length < 8) fail(`expected at least 8 bytes, found ${bytes.length}`)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const length = view.getUint32(0, true) + view.getUint32(4, true) * 2 ** 32
  if (length > LARGEST_HEADER)
    fail(`expected a header of at most ${LARGEST_HEADER} bytes, found a header length of ${length}`)
  const start = 8 + length
  if (start > bytes.length)
    fail(`expected a header of ${length} bytes, found a file of ${bytes.length} bytes`)
  const { [METADATA]: metadata = {}, ...listed } = parseHeader(bytes.subarray(8, start), file)
  const entries = Object.entries(listed).map(
    ([name, info]) => [name, parseEntry(info, start, `tensor ${shown(name)}`, file)] as const,
  )
  requireCoverage(entries, start, bytes.length, file)
  return { file, bytes, entries: new Map(entries), metadata: parseMetadata(metadata, file) }
}

function parseHeader(bytes: Uint8Array, file: string): JsonObject {
  if (bytes[0] !== '{'.charCodeAt(0))
    throw new ModelFileError(file, 'header: expected JSON that begins with {')
  let header: unknown
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    requirePlainHeader(text, file)
    header = JSON.parse(text)
  } catch (error) {
    if (error instanceof ModelFileError) throw error
    const why = error instanceof Error ? error.message : String(error)
    throw new ModelFileError(
      file,
      `header: expected JSON in UTF-8, found something else (${why.slice(0, 200)})`,
    )
  }
  if (isObject(header)) return header
  throw new ModelFileError(file, `header: expected a JSON object, found ${shown(header)}`)
}

/** Refuses what JSON.parse would let pass: repeated keys (it keeps the last), depth, and any number but a whole one. */
function requirePlainHeader(text: string, file: string): void {
  const keys: Set<string>[] = []
  for (let i = 0; i < text.length; i++) {
    const c = text[i]
    if (c === '"') {
      const end = closingQuote(text, i)
      const key = JSON.parse(text.slice(i, end + 1))
      i = end
      while (' \t\n\r'.includes(text[i + 1] ?? '-')) i++
      if (text[i + 1] !== ':') continue
      const seen = keys.at(-1)
      if (seen?.has(key))
        throw new ModelFileError(file, `header: expected each name once, found ${shown(key)} twice`)
      seen?.add(key)
    } else if (c === '{' || c === '[') {
      if (keys.push(new Set()) > DEEPEST_HEADER)
        throw new ModelFileError(file, `header: expected a depth of at most ${DEEPEST_HEADER}`)
    } else if (c === '}' || c === ']') keys.pop()
    else if (!'0123456789:, \t\n\r'.includes(c))
      throw new ModelFileError(file, `header: expected names and whole numbers, found ${shown(c)}`)
  }
}

/** Index of the quote that ends the string begun at `start`; the end of the text where there is none. */
function closingQuote(text: string, start: number): number {
  let i = start + 1
  while (i < text.length && text[i] !== '"') i += text[i] === '\\' ? 2 : 1
  return i
}

function parseEntry(info: unknown, start: number, where: string, file: string): TensorEntry {
  const fail = (what: string, expected: string, found: unknown): never => {
    throw new ModelFileError(
      file,
      `${where}: expected ${what} to be ${expected}, found ${shown(found)}`,
    )
  }
  if (!isObject(info)) return fail('its entry', 'an object', info)
  const { dtype, shape, data_offsets } = info
  if (!isDtype(dtype)) return fail('dtype', `one of ${Object.keys(DTYPE_BYTES).join(', ')}`, dtype)
  if (!isCounts(shape)) return fail('shape', 'a list of whole numbers', shape)
  if (!isCounts(data_offsets) || data_offsets.length !== 2)
    return fail('data_offsets', 'two whole numbers', data_offsets)
  const [begin, end] = data_offsets
  const size = shape.reduce((a, b) => a * b, 1)
  // Above 2^53 a product is no longer exact, but it is still larger than any file.
  if (end - begin !== size * DTYPE_BYTES[dtype])
    fail(
      'data_offsets',
      `${size * DTYPE_BYTES[dtype]} bytes apart for ${dtype} [${shape}]`,
      data_offsets,
    )
  return { dtype, shape, size, begin: start + begin, end: start + end }
}

const isDtype = (value: unknown): value is Dtype =>
  typeof value === 'string' && Object.hasOwn(DTYPE_BYTES, value)

const isCounts = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every((n) => Number.isSafeInteger(n) && n >= 0)

function requireCoverage(
  entries: readonly (readonly [string, TensorEntry])[],
  start: number,
  length: number,
  file: string,
): void {
  let end = start
  const in_order = [...entries].sort(([, a], [, b]) => a.begin - b.begin || a.end - b.end)
  for (const [name, entry] of in_order) {
    if (entry.begin !== end)
      throw new ModelFileError(
        file,
        `tensor ${shown(name)}: expected its data to begin at byte ${end - start} of the data, ` +
          `where the one before ends, found ${entry.begin - start}`,
      )
    end = entry.end
  }
  if (end !== length)
    throw new ModelFileError(
      file,
      `expected ${end} bytes for the tensors in the header, found ${length}`,
    )
}

function parseMetadata(value: unknown, file: string): Readonly<Record<string, string>> {
  const fail = (where: string, expected: string, found: unknown): never => {
    throw new ModelFileError(file, `${where}: expected ${expected}, found ${shown(found)}`)
  }
  if (!isObject(value)) return fail(METADATA, 'an object of strings', value)
  for (const [key, text] of Object.entries(value))
    if (typeof text !== 'string') fail(`${METADATA} ${shown(key)}`, 'a string', text)
  return value as Readonly<Record<string, string>>
}

/** The values of one tensor of an open file. Throws ModelFileError for an I64 beyond 2^53 and a BOOL beyond 1. */
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

/** Writes a tensor of floats (F64 is rounded) into `target`, which has its size. Throws ModelFileError for other dtypes. */
export function readFloats(opened: OpenSafetensors, name: string, target: Float32Array): void {
  const { dtype, size, begin, end } = entryOf(opened, name)
  const stored = asStored(target, dtype)
  if (stored) {
    stored.set(opened.bytes.subarray(begin, end))
    return
  }
  const view = dataOf(opened, begin, end)
  // Bits, not numbers: what a NaN carries survives too.
  const bits = new Uint32Array(target.buffer, target.byteOffset, size)
  if (dtype === 'F32') for (let i = 0; i < size; i++) bits[i] = view.getUint32(4 * i, true)
  else if (dtype === 'BF16')
    for (let i = 0; i < size; i++) bits[i] = view.getUint16(2 * i, true) << 16
  else if (dtype === 'F16')
    for (let i = 0; i < size; i++) bits[i] = bitsOfHalf(view.getUint16(2 * i, true))
  else if (dtype === 'F64') for (let i = 0; i < size; i++) target[i] = view.getFloat64(8 * i, true)
  else
    throw new ModelFileError(
      opened.file,
      `tensor ${shown(name)}: expected floating-point weights (F32, F16, BF16, F64), found ${dtype}`,
    )
}

function entryOf({ entries, file }: OpenSafetensors, name: string): TensorEntry {
  const entry = entries.get(name)
  if (!entry) throw new ModelFileError(file, `tensor ${shown(name)}: expected, found nothing`)
  return entry
}

/** A DataView reads at any offset; a typed array would insist on alignment, which the format does not promise. */
const dataOf = ({ bytes }: OpenSafetensors, begin: number, end: number) =>
  new DataView(bytes.buffer, bytes.byteOffset + begin, end - begin)

/** A tensor to be written, in the dtype of the file unless it says another one. */
export interface WrittenTensor {
  readonly shape: readonly number[]
  readonly data: ArrayLike<number>
  readonly as?: 'F64' | 'I32'
}

/**
 * Writes tensors as Hugging Face does: wide dtypes first and then by name, so that every tensor is aligned, the header padded
 * with spaces to 8 bytes. `metadata` as transformers wants it. Throws RangeError for a repeated or reserved name and for a
 * shape that is not the data's.
 */
export function writeSafetensors(
  tensors: Iterable<readonly [string, WrittenTensor]>,
  metadata: Readonly<Record<string, string>> = { format: 'pt' },
  dtype: FloatDtype = 'F32',
): Uint8Array<ArrayBuffer> {
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
  const bytes = new Uint8Array(start + end).fill(' '.charCodeAt(0), 8, start)
  bytes.set(text, 8)
  new DataView(bytes.buffer).setUint32(0, start - 8, true)
  let at = start
  for (const [, tensor] of sorted) {
    const size = tensor.data.length * widthOf(tensor)
    writeValues(tensor, bytes.subarray(at, at + size))
    at += size
  }
  return bytes
}

const widthOf = ({ dtype }: { readonly dtype: Dtype }): number => DTYPE_BYTES[dtype]

const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1

/** The memory of `data`, where its bytes are those of the file. */
function asStored(data: ArrayLike<number>, dtype: Dtype): Uint8Array | undefined {
  const is_same =
    (dtype === 'F32' && data instanceof Float32Array) ||
    (dtype === 'F64' && data instanceof Float64Array) ||
    (dtype === 'I32' && data instanceof Int32Array)
  return IS_LITTLE_ENDIAN && is_same
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : undefined
}

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
