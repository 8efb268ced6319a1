// Tensors, and who makes them: the device, or a plan that only adds up bytes.
import { ShapeError } from './errors.ts'

/** bf16 is the upper half of a float32, two in each 32-bit word: half the memory for weights that nothing trains. */
export type DType = 'f32' | 'u32' | 'bf16'

/** Bytes of one element. */
export const bytesPer = (dtype: DType): number => (dtype === 'bf16' ? 2 : 4)

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

/** Values for f32, u32 and bf16 (bit patterns), in that order. */
export type TensorData = Float32Array | Uint32Array | Uint16Array

export interface TensorOptions {
  readonly kind?: MemoryKind
  readonly data?: TensorData
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
    const bytes = bufferBytes(shape, dtype)
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

/** Whole words, and never none: WebGPU cannot bind zero bytes. */
export const bufferBytes = (shape: readonly number[], dtype: DType): number =>
  Math.max(4, Math.ceil((sizeOf(shape) * bytesPer(dtype)) / 4) * 4)

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

/** How the CPU holds the elements of each dtype. */
export const ARRAYS = { f32: Float32Array, u32: Uint32Array, bf16: Uint16Array }

/** The byte of the buffer where `data` for a tensor from element `offset` on goes. Throws ShapeError where it does not fit. */
export function writtenFrom(tensor: Tensor, data: TensorData, offset: number): number {
  const { label, dtype, shape } = tensor
  if (offset + data.length > sizeOf(shape))
    throw new ShapeError(`${label}: ${data.length} values at ${offset} do not fit [${shape}]`)
  if (!(data instanceof ARRAYS[dtype])) throw new ShapeError(`${label}: expected ${dtype} values`)
  const at = (tensor.offset + offset) * bytesPer(dtype)
  if (at % 4 !== 0 || data.byteLength % 4 !== 0)
    throw new ShapeError(`${label}: expected bf16 values in pairs`)
  return at
}
