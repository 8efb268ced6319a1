// Declares what is trained beside a frozen base on the GPU, a LoRA adapter's factors or steering
// vectors, and the gradients of them, each as its kernels take it.
import type { Allocator, Tensor } from '../../kernels/device/base/tensor.ts'
import {
  type AdapterLayout,
  type BlockFactors,
  PRODUCTS,
  type ProductFactors,
  type ProductName,
} from '../layout/adapter_layout.ts'
import { createParamBuffers, type ParamBuffers, viewParam } from './param_buffers.ts'

/** The factors of every block, or the vectors; in gradients those that are frozen are absent. */
export interface AdapterTensors {
  readonly layout: AdapterLayout
  readonly buffers: ParamBuffers
  readonly blocks: readonly BlockFactors<Tensor>[]
  /** By layer, 0 to L; undefined where there is none. */
  readonly vectors: readonly (Tensor | undefined)[]
}

/** Room for an adapter. */
export const createAdapter = (alloc: Allocator, layout: AdapterLayout): AdapterTensors =>
  adapterTensors(alloc, layout, createParamBuffers(alloc, layout, 'adapter', 'weights'))

/** Views of what the buffers store. */
export function adapterTensors(
  alloc: Allocator,
  layout: AdapterLayout,
  buffers: ParamBuffers,
): AdapterTensors {
  const blocks = layout.blocks.map((slices, l) => {
    const block: { [P in ProductName]?: ProductFactors<Tensor> } = {}
    for (const product of Object.keys(PRODUCTS) as ProductName[]) {
      const own = slices[product]
      const A = own && viewParam(alloc, buffers, `${l}.${product}.A`, own.A)
      const B = own && viewParam(alloc, buffers, `${l}.${product}.B`, own.B)
      if (own && A && B) block[product] = { ...own, A, B }
    }
    return block
  })
  const vectors = layout.vectors.map(
    (slice, layer) => slice && viewParam(alloc, buffers, `vector.${layer}`, slice),
  )
  return { layout, buffers, blocks, vectors }
}
