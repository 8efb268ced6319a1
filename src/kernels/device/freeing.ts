// Makes tensors that live for one piece of work: what is made through it is freed at once.
import type { Allocator, Tensor } from './base/tensor.ts'
import type { Gpu } from './gpu.ts'

export function freeing(gpu: Gpu): { readonly alloc: Allocator; readonly free: () => void } {
  const made: Tensor[] = []
  const alloc: Allocator = {
    segmentBytes: gpu.segmentBytes,
    tensor: (label, dtype, shape, options) => {
      const tensor = gpu.tensor(label, dtype, shape, options)
      made.push(tensor)
      return tensor
    },
    view: (tensor, label, offset, shape) => gpu.view(tensor, label, offset, shape),
    reserveReads: (bytes, count) => gpu.reserveReads(bytes, count),
  }
  return { alloc, free: () => gpu.free(...made) }
}
