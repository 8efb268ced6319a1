// Reads and writes the header of Hugging Face's file of named tensors: 8 bytes of header length, a
// JSON header, the data. Little-endian throughout. Source:
// https://github.com/huggingface/safetensors (format section of the README, and what tensor.rs
// accepts). This file knows the dtypes and the header.

import { ModelFileError, shown } from './errors.ts'
import { foreignFile, foreignWords, HEAD_BYTES } from './first_bytes.ts'
import { isObject, type JsonObject } from './json.ts'

/** Bytes per element of the dtypes that are read. */
export const DTYPE_BYTES = {
  F64: 8,
  F32: 4,
  F16: 2,
  BF16: 2,
  I64: 8,
  I32: 4,
  U8: 1,
  BOOL: 1,
} as const

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

/** What a checked header says. */
export interface SafetensorsHeader {
  readonly file: string
  readonly entries: ReadonlyMap<string, TensorEntry>
  readonly metadata: Readonly<Record<string, string>>
}

/** A file in memory whose header has been checked and whose tensors have not been read yet. */
export interface OpenSafetensors extends SafetensorsHeader {
  readonly bytes: Uint8Array
}

/** The header's entry that is no tensor. */
export const METADATA = '__metadata__'
/** As in the reference reader. */
const LARGEST_HEADER = 100_000_000
/** { tensor: { shape: [ … ] } } */
const DEEPEST_HEADER = 3

/** Bytes before the header: its length. */
export const LENGTH_BYTES = 8

/** Reads and checks the header of a file in memory. Throws ModelFileError. */
export function openSafetensors(bytes: Uint8Array, file: string): OpenSafetensors {
  try {
    const length = headerLength(bytes.subarray(0, LENGTH_BYTES), bytes.length, file)
    const header = bytes.subarray(LENGTH_BYTES, LENGTH_BYTES + length)
    return { ...checkHeader(header, bytes.length, file), bytes }
  } catch (error) {
    refuseForeign(bytes, bytes.length, file)
    throw error
  }
}

/** Refuses a file that is another format, a pointer or a path, by what it is. `head`: its first
 * bytes, HEAD_BYTES or all of them. Throws ModelFileError. */
export function refuseForeign(head: Uint8Array, fileBytes: number, file: string): void {
  // No other format has a small number in its first 8 bytes and a bracket behind them.
  if (head[LENGTH_BYTES] === '{'.charCodeAt(0) && head[6] === 0 && head[7] === 0) return
  const found = foreignFile(head.subarray(0, HEAD_BYTES), fileBytes)
  if (found) throw new ModelFileError(file, `expected safetensors, found ${foreignWords(found)}`)
}

/** The length of the header, from the first bytes of a file of `fileBytes`. Throws
 * ModelFileError. */
export function headerLength(first: Uint8Array, fileBytes: number, file: string): number {
  if (fileBytes < LENGTH_BYTES || first.length < LENGTH_BYTES)
    throw new ModelFileError(file, `expected at least 8 bytes, found ${fileBytes}`)
  const view = new DataView(first.buffer, first.byteOffset, LENGTH_BYTES)
  const length = view.getUint32(0, true) + view.getUint32(4, true) * 2 ** 32
  if (length > LARGEST_HEADER)
    throw new ModelFileError(
      file,
      `expected a header of at most ${LARGEST_HEADER} bytes, found a header length of ${length}`,
    )
  if (LENGTH_BYTES + length > fileBytes)
    throw new ModelFileError(
      file,
      `expected a header of ${length} bytes, found a file of ${fileBytes} bytes`,
    )
  return length
}

/** Checks the bytes of a header. As in the reference reader, the tensors cover the data of a file
 * of `fileBytes` exactly: no byte twice, none left over. Throws ModelFileError. */
export function checkHeader(
  header: Uint8Array,
  fileBytes: number,
  file: string,
): SafetensorsHeader {
  const start = LENGTH_BYTES + header.length
  const { [METADATA]: metadata = {}, ...listed } = parseHeader(header, file)
  const entries = Object.entries(listed).map(
    ([name, info]) => [name, parseEntry(info, start, `tensor ${shown(name)}`, file)] as const,
  )
  requireCoverage(entries, start, fileBytes, file)
  return { file, entries: new Map(entries), metadata: parseMetadata(metadata, file) }
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

/** Refuses what JSON.parse would let pass: repeated keys (it keeps the last), depth, and any number
 * but a whole one. */
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

/** Index of the quote that ends the string begun at `start`; the end of the text where there is
 * none. */
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
  const inOrder = [...entries].sort(([, a], [, b]) => a.begin - b.begin || a.end - b.end)
  for (const [name, entry] of inOrder) {
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
      `expected ${end} bytes for the tensors in the header, found ${length}${length < end ? ': it is cut off; download or copy it again' : ''}`,
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

const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1

/** The memory of `data`, where its bytes are those of the file. */
export function asStored(data: ArrayLike<number>, dtype: Dtype): Uint8Array | undefined {
  const isSame =
    (dtype === 'F32' && data instanceof Float32Array) ||
    (dtype === 'F64' && data instanceof Float64Array) ||
    (dtype === 'I32' && data instanceof Int32Array)
  return IS_LITTLE_ENDIAN && isSame
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : undefined
}
