// Describes tensors, and who makes them: the device, or a plan that only adds up bytes.
import { ShapeError } from './errors.ts'

/** What a tensor holds. 'bfloat16' is the upper half of an f32 (torch.bfloat16), two to a word of
 * 32 bits, the first in the low half: WGSL binds it as array<u32> and decodes with
 * bitcast<f32>(word << 16u) and bitcast<f32>(word & 0xffff0000u). */
export type DType = 'f32' | 'u32' | 'bfloat16'

/** Bytes of one element. */
export const elementBytes = (dtype: DType): 2 | 4 => (dtype === 'bfloat16' ? 2 : 4)

/** Where a binding may start: WebGPU's default minStorageBufferOffsetAlignment, in bytes. */
export const BINDING_ALIGNMENT = 256

/** Most bytes of one buffer of parameters by default: WebGPU's default
 * maxStorageBufferBindingSize. */
export const SEGMENT_BYTES = 134217728

/** What a tensor is kept for: the rows of the memory table. */
export type MemoryKind =
  | 'weights'
  | 'gradients'
  | 'optimizer'
  | 'activations'
  | 'kv_cache'
  | 'batch'
  | 'scratch'
  /** What open panels ask of the model's inside. */
  | 'probes'

/** A typed, shaped, contiguous part of one storage buffer. Row-major; `offset` counts elements. */
export interface Tensor<D extends DType = DType> {
  readonly label: string
  readonly dtype: D
  readonly shape: readonly number[]
  readonly buffer: GPUBuffer
  readonly offset: number
}

/** Elements in a shape. */
export const sizeOf = (shape: readonly number[]): number => shape.reduce((n, d) => n * d, 1)

/** Makes tensors: the device, or a plan that only adds up what the device would be asked for. */
export interface Allocator {
  /** Most bytes of one buffer of parameters (model/params/param_buffers.ts). */
  readonly segmentBytes: number
  tensor<D extends DType>(
    label: string,
    dtype: D,
    shape: readonly number[],
    options?: TensorOptions,
  ): Tensor<D>
  view<D extends DType>(
    tensor: Tensor<D>,
    label: string,
    offset: number,
    shape: readonly number[],
  ): Tensor<D>
  /** Makes room for `count` readbacks of up to `bytes` at a time, so that `read` creates nothing
   * later. */
  reserveReads(bytes: number, count: number): void
}

export interface TensorOptions {
  readonly kind?: MemoryKind
  readonly data?: Float32Array | Uint32Array | Uint16Array
}

/** A memory table with nothing in it. */
export const noBytes = (): Record<MemoryKind, number> => ({
  weights: 0,
  gradients: 0,
  optimizer: 0,
  activations: 0,
  kv_cache: 0,
  batch: 0,
  scratch: 0,
  probes: 0,
})

/** Adds up tensors without a device, so that a run's memory is known before anything is
 * allocated. */
export class MemoryPlan implements Allocator {
  readonly bytes = noBytes()
  readonly segmentBytes: number
  /** Its label and size decide whether the adapter's binding limit suffices. */
  largest = { label: '', bytes: 0 }

  constructor(segmentBytes = SEGMENT_BYTES) {
    this.segmentBytes = segmentBytes
  }

  tensor<D extends DType>(
    label: string,
    dtype: D,
    shape: readonly number[],
    { kind = 'scratch' }: TensorOptions = {},
  ): Tensor<D> {
    const bytes = bufferBytes({ dtype, shape })
    this.bytes[kind] += bytes
    if (bytes > this.largest.bytes) this.largest = { label: `${label} [${shape}]`, bytes }
    return { label, dtype, shape, buffer: undefined as never, offset: 0 }
  }

  view<D extends DType>(
    tensor: Tensor<D>,
    label: string,
    offset: number,
    shape: readonly number[],
  ): Tensor<D> {
    return viewOf(tensor, label, offset, shape)
  }

  reserveReads(bytes: number, count: number): void {
    this.bytes.scratch += bytes * count
  }

  total(): number {
    return Object.values(this.bytes).reduce((a, b) => a + b, 0)
  }
}

/** Bytes of `count` elements in whole words, as WebGPU copies them. */
export const wordBytes = (dtype: DType, count: number): number =>
  Math.ceil((count * elementBytes(dtype)) / 4) * 4

/** A buffer is never empty: WebGPU cannot bind zero bytes. */
export const bufferBytes = ({ dtype, shape }: Pick<Tensor, 'dtype' | 'shape'>): number =>
  Math.max(4, wordBytes(dtype, sizeOf(shape)))

/** A part of a tensor. Throws ShapeError where it lies outside. */
export function viewOf<D extends DType>(
  tensor: Tensor<D>,
  label: string,
  offset: number,
  shape: readonly number[],
): Tensor<D> {
  if (offset < 0 || offset + sizeOf(shape) > sizeOf(tensor.shape))
    throw new ShapeError(
      `${label}: [${shape}] at ${offset} lies outside ${tensor.label} [${tensor.shape}]`,
    )
  const { dtype, buffer } = tensor
  return { label, dtype, shape, buffer, offset: tensor.offset + offset }
}
