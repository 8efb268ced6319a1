// Tensors, and who makes them: the device, or a plan that only adds up bytes.
import { ShapeError } from './errors.ts'

export type DType = 'f32' | 'u32'

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
  /** Makes room for `count` readbacks of up to `bytes` at a time, so that `read` creates nothing later. */
  reserveReads(bytes: number, count: number): void
}

export interface TensorOptions {
  readonly kind?: MemoryKind
  readonly data?: Float32Array | Uint32Array
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

/** Adds up tensors without a device, so that a run's memory is known before anything is allocated. */
export class MemoryPlan implements Allocator {
  readonly bytes = noBytes()
  /** Its label and size decide whether the adapter's binding limit suffices. */
  largest = { label: '', bytes: 0 }

  tensor<D extends DType>(
    label: string,
    dtype: D,
    shape: readonly number[],
    { kind = 'scratch' }: TensorOptions = {},
  ): Tensor<D> {
    const bytes = bufferBytes(shape)
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

/** A buffer is never empty: WebGPU cannot bind zero bytes. */
export const bufferBytes = (shape: readonly number[]): number => Math.max(4, sizeOf(shape) * 4)

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
