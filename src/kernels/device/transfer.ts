// Carries values to the GPU and back: as whole words, packed into a staging buffer, read as
// typed arrays.
import { ShapeError } from './base/errors.ts'
import { elementBytes, sizeOf, type Tensor, wordBytes } from './base/tensor.ts'

const ARRAYS = { f32: Float32Array, u32: Uint32Array, bfloat16: Uint16Array } as const

/** The words to write for `data` from element `offset` of a tensor on, and the byte of its buffer
 * where they go. bfloat16 begins at an even element; an odd number of them ends the tensor. Throws
 * ShapeError for values of another kind or place. */
export function wordsFor(
  tensor: Tensor,
  data: Float32Array | Uint32Array | Uint16Array,
  offset: number,
): { readonly at: number; readonly words: Float32Array | Uint32Array | Uint16Array } {
  const { label, dtype, shape } = tensor
  const end = offset + data.length
  if (end > sizeOf(shape))
    throw new ShapeError(`${label}: ${data.length} values at ${offset} do not fit [${shape}]`)
  if (!(data instanceof ARRAYS[dtype])) throw new ShapeError(`${label}: expected ${dtype} values`)
  const at = (tensor.offset + offset) * elementBytes(dtype)
  const isWhole = data.byteLength % 4 === 0
  if (at % 4 !== 0 || (!isWhole && end !== sizeOf(shape)))
    throw new ShapeError(`${label}: ${data.length} values at ${offset} split a word of two`)
  if (isWhole) return { at, words: data }
  const padded = new Uint16Array(data.length + 1)
  padded.set(data)
  return { at, words: padded }
}

/** What the CPU gets for a list of tensors. */
export type ReadArrays<T extends readonly Tensor[]> = {
  [K in keyof T]: T[K] extends Tensor<'u32'>
    ? Uint32Array<ArrayBuffer>
    : T[K] extends Tensor<'bfloat16'>
      ? Uint16Array<ArrayBuffer>
      : Float32Array<ArrayBuffer>
}

/** A tensor's bytes, in whole words. */
const bytesOfOne = ({ dtype, shape }: Tensor): number => wordBytes(dtype, sizeOf(shape))

/** Bytes of all tensors together. */
export const bytesOf = (tensors: readonly Tensor[]): number =>
  tensors.reduce((sum, tensor) => sum + bytesOfOne(tensor), 0)

/** Encodes copying the tensors into a staging buffer of at least `bytesOf` them. */
export function copyTo(
  staging: GPUBuffer,
  encoder: GPUCommandEncoder,
  tensors: readonly Tensor[],
): void {
  let at = 0
  for (const tensor of tensors) {
    const { buffer, offset, dtype } = tensor
    const bytes = bytesOfOne(tensor)
    encoder.copyBufferToBuffer(buffer, offset * elementBytes(dtype), staging, at, bytes)
    at += bytes
  }
}

/** The tensors' values from a mapped staging buffer, which is unmapped again. */
export function takeArrays<T extends readonly Tensor[]>(
  staging: GPUBuffer,
  tensors: T,
): ReadArrays<T> {
  const mapped = staging.getMappedRange(0, bytesOf(tensors))
  let at = 0
  const arrays = tensors.map((tensor) => {
    const bytes = bytesOfOne(tensor)
    const part = mapped.slice(at, at + bytes)
    at += bytes
    return new ARRAYS[tensor.dtype](part, 0, sizeOf(tensor.shape))
  })
  staging.unmap()
  return arrays as never
}
