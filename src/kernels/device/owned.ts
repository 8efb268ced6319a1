// Keeps tensors of one kind that are freed together.

import type { Allocator, DType, MemoryKind, Tensor, TensorOptions } from './base/tensor.ts'
import type { Gpu } from './gpu.ts'

/** Allocates on a device, whatever kind is asked for as `kind`, and knows what it has allocated. */
export class OwnedTensors implements Allocator {
  #gpu: Gpu
  #kind: MemoryKind
  #tensors: Tensor[] = []

  readonly segmentBytes: number

  constructor(gpu: Gpu, kind: MemoryKind) {
    this.segmentBytes = gpu.segmentBytes
    this.#gpu = gpu
    this.#kind = kind
  }

  tensor<D extends DType>(
    label: string,
    dtype: D,
    shape: readonly number[],
    options: TensorOptions = {},
  ): Tensor<D> {
    const tensor = this.#gpu.tensor(label, dtype, shape, { ...options, kind: this.#kind })
    this.#tensors.push(tensor)
    return tensor
  }

  view<D extends DType>(
    tensor: Tensor<D>,
    label: string,
    offset: number,
    shape: readonly number[],
  ): Tensor<D> {
    return this.#gpu.view(tensor, label, offset, shape)
  }

  reserveReads(bytes: number, count: number): void {
    this.#gpu.reserveReads(bytes, count)
  }

  /** Frees them all. Work already submitted still finishes. */
  free(): void {
    this.#gpu.free(...this.#tensors.splice(0))
  }
}
