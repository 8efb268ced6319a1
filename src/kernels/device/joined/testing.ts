// Makes memory plans for tests that count what is joined.
import { MemoryPlan } from '../base/tensor.ts'

/** A plan whose tensors lie in buffers of their own, as a device's do. */
export class SeparateBuffers extends MemoryPlan {
  override tensor: MemoryPlan['tensor'] = (...given) => ({
    ...super.tensor(...given),
    buffer: { label: given[0] } as GPUBuffer,
  })
}
