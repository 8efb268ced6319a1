// Tensors on their way back to the CPU: packed into a staging buffer, then read as typed arrays.
import { sizeOf, type Tensor } from './tensor.ts'

/** What the CPU gets for a list of tensors. */
export type ReadArrays<T extends readonly Tensor[]> = {
  [K in keyof T]: T[K] extends Tensor<'u32'> ? Uint32Array<ArrayBuffer> : Float32Array<ArrayBuffer>
}

/** Bytes of all tensors together. */
export const bytesOf = (tensors: readonly Tensor[]): number =>
  tensors.reduce((sum, { shape }) => sum + sizeOf(shape) * 4, 0)

/** Encodes copying the tensors into a staging buffer of at least `bytesOf` them. */
export function copyTo(
  staging: GPUBuffer,
  encoder: GPUCommandEncoder,
  tensors: readonly Tensor[],
): void {
  let at = 0
  for (const { shape, buffer, offset } of tensors) {
    encoder.copyBufferToBuffer(buffer, offset * 4, staging, at, sizeOf(shape) * 4)
    at += sizeOf(shape) * 4
  }
}

/** The tensors' values from a mapped staging buffer, which is unmapped again. */
export function takeArrays<T extends readonly Tensor[]>(
  staging: GPUBuffer,
  tensors: T,
): ReadArrays<T> {
  const mapped = staging.getMappedRange(0, bytesOf(tensors))
  let at = 0
  const arrays = tensors.map(({ dtype, shape }) => {
    const part = mapped.slice(at, at + sizeOf(shape) * 4)
    at += sizeOf(shape) * 4
    return dtype === 'f32' ? new Float32Array(part) : new Uint32Array(part)
  })
  staging.unmap()
  return arrays as never
}
