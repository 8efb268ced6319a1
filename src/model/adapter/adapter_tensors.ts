// A LoRA adapter on the GPU: views of its factors, or of their gradients.
import type { Allocator, Tensor } from '../../kernels/device/tensor.ts'
import type { Slice } from '../params/flat_params.ts'
import type { AdapterLayout, BlockFactors, ProductFactors, ProductName } from './adapter_layout.ts'

/** The factors of every block. */
export interface AdapterTensors {
  readonly rank: number
  /** What B A x is multiplied by. */
  readonly scale: number
  readonly blocks: readonly BlockFactors<Tensor>[]
}

/** Views of one flat buffer of the layout's size. */
export function adapterTensors(
  alloc: Allocator,
  { lora, scale, blocks }: AdapterLayout,
  flat: Tensor,
): AdapterTensors {
  const view = (name: string, { offset, shape }: Slice) =>
    alloc.view(flat, `${flat.label}.${name}`, offset, shape)
  return {
    rank: lora.r,
    scale,
    blocks: blocks.map((block, l) => {
      const entries = Object.entries(block).map(([product, factors]) => {
        const { A, B, ...rest } = factors as ProductFactors<Slice>
        const at = `${l}.${product}`
        return [product, { ...rest, A: view(`${at}.A`, A), B: view(`${at}.B`, B) }]
      })
      return Object.fromEntries(entries) as { readonly [P in ProductName]?: ProductFactors<Tensor> }
    }),
  }
}
