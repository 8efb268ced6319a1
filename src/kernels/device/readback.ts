// Tensors on their way back to the CPU: packed into a staging buffer, then read as typed arrays.
import { ARRAYS, bufferBytes, bytesPer, sizeOf, type Tensor } from './tensor.ts'

/** What the CPU gets for a list of tensors. */
export type ReadArrays<T extends readonly Tensor[]> = {
  [K in keyof T]: T[K] extends Tensor<'u32'>
    ? Uint32Array<ArrayBuffer>
    : T[K] extends Tensor<'bf16'>
      ? Uint16Array<ArrayBuffer>
      : Float32Array<ArrayBuffer>
}

/** Whole words, as WebGPU copies them; nothing of an empty tensor. */
const copiedBytes = ({ shape, dtype }: Tensor): number =>
  sizeOf(shape) === 0 ? 0 : bufferBytes(shape, dtype)

/** Bytes of all tensors together. */
export const bytesOf = (tensors: readonly Tensor[]): number =>
  tensors.reduce((sum, tensor) => sum + copiedBytes(tensor), 0)

/** Encodes copying the tensors into a staging buffer of at least `bytesOf` them. */
export function copyTo(
  staging: GPUBuffer,
  encoder: GPUCommandEncoder,
  tensors: readonly Tensor[],
): void {
  let at = 0
  for (const tensor of tensors) {
    const { buffer, offset, dtype } = tensor
    const bytes = copiedBytes(tensor)
    encoder.copyBufferToBuffer(buffer, offset * bytesPer(dtype), staging, at, bytes)
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
    const { dtype, shape } = tensor
    const part = mapped.slice(at, at + sizeOf(shape) * bytesPer(dtype))
    at += copiedBytes(tensor)
    return new ARRAYS[dtype](part)
  })
  staging.unmap()
  return arrays as never
}
