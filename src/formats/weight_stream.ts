// Streams weights from files to wherever they are needed, piece by piece: never more than one piece
// of a file is in memory.

import { ModelFileError, shown } from './errors.ts'
import { HEAD_BYTES } from './first_bytes.ts'
import type { RangedFile } from './ranged_file.ts'
import { decodeFloats, requireFloats } from './safetensors.ts'
import {
  checkHeader,
  DTYPE_BYTES,
  headerLength,
  LENGTH_BYTES,
  refuseForeign,
  type SafetensorsHeader,
  type TensorEntry,
} from './safetensors_header.ts'

/** Takes the values of parameters as they come, in any order of parameters. */
export interface WeightSink {
  /** Elements offset … offset + values.length − 1 of a parameter, by its Hugging Face name. The
   * next piece comes when it resolves; `values` may then be written over. */
  write(param: string, offset: number, values: Float32Array<ArrayBuffer>): void | Promise<void>
}

export interface LoadOptions {
  /** Ends the reading between two pieces, with its reason. */
  readonly signal?: AbortSignal | undefined
  /** After every piece: bytes read so far, of all that will be. */
  readonly onProgress?: ((bytes: number, of: number) => void) | undefined
  /** Bytes of a file read at a time; tests make it small. */
  readonly pieceBytes?: number | undefined
}

/** Bytes of a file that are read at a time. 16-bit numbers take twice as much once they are decoded
 * and 8 bytes of a float64 half, so a piece is at most three times this: 48 MiB. */
export const PIECE_BYTES = 2 ** 24
/** Bytes of a header at most: one of a thousand tensors has a tenth of a megabyte, and JSON takes
 * many times its size. */
const LARGEST_HEADER = 2 ** 24

/** A safetensors file whose header has been read. */
export interface RangedSafetensors extends SafetensorsHeader {
  readonly source: RangedFile
}

/** Reads and checks the header alone. Throws ModelFileError, which says what else the file is where
 * it is known. */
export async function openRanged(source: RangedFile): Promise<RangedSafetensors> {
  const { name, size } = source
  try {
    return await readHeader(source)
  } catch (error) {
    if (error instanceof ModelFileError)
      refuseForeign(await source.read(0, Math.min(HEAD_BYTES, size)), size, name)
    throw error
  }
}

async function readHeader(source: RangedFile): Promise<RangedSafetensors> {
  const { name, size } = source
  const first = await source.read(0, Math.min(LENGTH_BYTES, size))
  const length = headerLength(first, size, name)
  if (length > LARGEST_HEADER)
    throw new ModelFileError(
      name,
      `expected a header of at most ${LARGEST_HEADER} bytes, found a header length of ${length}`,
    )
  const header = await source.read(LENGTH_BYTES, LENGTH_BYTES + length)
  return { ...checkHeader(header, size, name), source }
}

/** One tensor of a file: where it is, and what it is called. */
export interface PlacedTensor {
  readonly name: string
  readonly file: RangedSafetensors
  readonly entry: TensorEntry
}

/** Reads the elements first … first + values.length − 1 of a tensor. Throws ModelFileError for one
 * that is no floats. */
async function readPiece(
  { name, file, entry }: PlacedTensor,
  first: number,
  count: number,
  room: Float32Array<ArrayBuffer>,
): Promise<Float32Array<ArrayBuffer>> {
  requireFloats(entry.dtype, file.file, name)
  const width = DTYPE_BYTES[entry.dtype]
  const begin = entry.begin + first * width
  const stored = await file.source.read(begin, begin + count * width)
  const values = room.subarray(0, count)
  decodeFloats(stored, entry.dtype, values)
  return values
}

/** Elements of a piece. */
const piecesOf = (bytes: number): number => Math.max(1, Math.floor(bytes / DTYPE_BYTES.F32))

/** Writes tensors into a sink, in the order in which they lie in their files. Throws ModelFileError
 * for a tensor that is no floats, `signal`'s reason, and what source and sink throw. */
export async function streamTensors(
  tensors: readonly PlacedTensor[],
  sink: WeightSink,
  { signal, onProgress, pieceBytes = PIECE_BYTES }: LoadOptions = {},
): Promise<void> {
  const files = [...new Set(tensors.map(({ file }) => file))]
  const inOrder = [...tensors].sort(
    (a, b) => files.indexOf(a.file) - files.indexOf(b.file) || a.entry.begin - b.entry.begin,
  )
  const total = inOrder.reduce((bytes, { entry }) => bytes + entry.end - entry.begin, 0)
  const most = piecesOf(pieceBytes)
  const largest = inOrder.reduce((size, { entry }) => Math.max(size, entry.size), 0)
  const room = new Float32Array(Math.min(most, largest))
  let bytes = 0
  for (const tensor of inOrder)
    for (let first = 0; first < tensor.entry.size; first += most) {
      signal?.throwIfAborted()
      const count = Math.min(most, tensor.entry.size - first)
      await sink.write(tensor.name, first, await readPiece(tensor, first, count, room))
      bytes += count * DTYPE_BYTES[tensor.entry.dtype]
      onProgress?.(bytes, total)
    }
}

/** Throws ModelFileError where `copy` says anything else than `original`, naming both values and
 * the place. */
export async function requireSame(
  copy: PlacedTensor,
  original: PlacedTensor,
  why: string,
  { signal, pieceBytes = PIECE_BYTES }: LoadOptions = {},
): Promise<void> {
  const most = piecesOf(pieceBytes / 2)
  const rooms = [copy, original].map(() => new Float32Array(Math.min(most, copy.entry.size)))
  for (let first = 0; first < copy.entry.size; first += most) {
    signal?.throwIfAborted()
    const count = Math.min(most, copy.entry.size - first)
    const own = await readPiece(copy, first, count, rooms[0])
    const other = await readPiece(original, first, count, rooms[1])
    const at = own.findIndex((x, i) => !Object.is(x, other[i]))
    if (at >= 0)
      throw new ModelFileError(
        copy.file.file,
        `tensor ${shown(copy.name)}: expected the values of ${original.name} (${why}), ` +
          `found ${own[at]} instead of ${other[at]} at element ${first + at}`,
      )
  }
}
