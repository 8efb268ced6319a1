// Tensors on their way back to the CPU: packed into a staging buffer, then read as typed arrays.
import { elementBytes, sizeOf, type Tensor, wordBytes } from './tensor.ts'

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

const ARRAYS = { f32: Float32Array, u32: Uint32Array, bfloat16: Uint16Array } as const

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
