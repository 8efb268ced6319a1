// Says which variants of matrix products suit a GPU, before any is measured there. The rules are
// what an NVIDIA H100 showed (docs/log/performance.md): few tiles leave most of it idle unless
// lanes share k; many tiles are limited by arithmetic. Those of Intel are what its compiler leaves
// in registers (docs/log/gpu.md).
import type { AdapterFacts } from '../device/adapter.ts'
import {
  type MatmulChoice,
  type MatmulProduct,
  type MatmulSize,
  matmulVariant,
  missingFeatures,
  shapeClass,
} from './matmul_variants.ts'
import type { MatmulOp } from './tiles/tile.ts'
import type { VariantName } from './variant_names.ts'

/** Kernels for products of at least so many tiles of 64 x 64, best guess first: a few, because each
 * costs its compilation. */
type Tier = readonly [tiles: number, variants: readonly VariantName[]]

/** Up to this k a product ends before lanes that share it have gained what their last sum costs. */
const SHORT_K = 127

const HUGE: Tier = [
  1024,
  ['staged_128x128_16x8', 'staged_128x64_8x8', 'staged_128x128_8x8', 'staged_64x64_8x8'],
]

const NN: readonly Tier[] = [
  HUGE,
  [300, ['staged_128x128_8x8', 'staged_128x64_8x8', 'staged_64x64_8x8', 'staged_128x64_8x4']],
  [150, ['staged_128x64_8x4', 'staged_64x64_8x8', 'slices_32x32', 'staged_128x64_8x8']],
  [64, ['skinny_8x16', 'slices_32x32', 'staged_32x32_4x4_by_4', 'staged_128x64_8x4']],
  [32, ['slices_32x32', 'skinny_8x16', 'slices_16x16', 'staged_64x64_8x8']],
  [0, ['slices_16x16', 'skinny_8x16', 'slices_32x32', 'staged_32x32_4x4_by_4']],
]
/** With a k up to SHORT_K. */
const NN_SHORT: readonly Tier[] = [
  ...NN.slice(0, 3),
  [32, ['slices_32x32', 'staged_32x32_4x4', 'skinny_8x16', 'staged_64x64_8x8']],
  NN[NN.length - 1],
]
const NT: readonly Tier[] = [
  HUGE,
  [700, ['staged_128x64_8x8', 'staged_64x64_8x8', 'staged_128x128_8x8', 'staged_128x64_8x4']],
  [300, ['staged_128x128_8x8', 'staged_128x64_8x8', 'staged_64x64_8x8', 'staged_128x64_8x4']],
  [200, ['staged_64x64_8x8', 'staged_128x64_8x4', 'subgroups_16x16', 'slices_32x32']],
  [0, ['subgroups_16x16', 'subgroups_8x16', 'slices_32x32', 'skinny_8x16']],
]
const NT_SHORT: readonly Tier[] = [
  ...NT.slice(0, -1),
  [0, ['staged_32x32_4x4', 'subgroups_8x16', 'slices_32x32', 'staged_64x64_8x8']],
]
const TN: readonly Tier[] = [
  [300, ['staged_64x64_8x8', 'staged_128x64_8x8', 'staged_128x128_8x8', 'staged_128x128_16x8']],
  [100, ['staged_128x64_8x4', 'staged_32x32_4x4_by_4', 'staged_128x64_8x8', 'staged_32x32_4x4']],
  [0, ['staged_32x32_4x4_by_4', 'staged_16x16_4x4_by_16', 'staged_32x32_4x4', 'slices_16x16']],
]

/** Intel's lanes have a quarter of the registers: with more than 4 x 4 results they are spilled.
 * The last two are for the tuner, where another compiler does better. */
const INTEL: readonly Tier[] = [
  [64, ['vector_4x4', 'slices_32x32', 'staged_64x64_8x8', 'staged_32x32_4x4']],
  [0, ['slices_32x32', 'slices_16x16', 'subgroups_16x16', 'staged_32x32_4x4']],
]

const tiersOf = (op: MatmulOp, k: number, vendor: string): readonly Tier[] => {
  if (vendor === 'intel') return INTEL
  if (op === 'tn') return TN
  if (op === 'nn') return k <= SHORT_K ? NN_SHORT : NN
  return k <= SHORT_K ? NT_SHORT : NT
}

/** The variants worth a measurement on a GPU of this maker, best guess first. */
export function gpuVariants(
  op: MatmulOp,
  { m, n, k }: MatmulSize,
  vendor = '',
): readonly VariantName[] {
  const tiles = Math.ceil(m / 64) * Math.ceil(n / 64)
  return tiersOf(op, k, vendor).find(([least]) => tiles >= least)?.[1] ?? []
}

/** The variants that a run's products take on a GPU until they are measured, by class. Empty for a
 * software adapter, which runs on the defaults, as does a class whose size none of gpuVariants
 * supports. */
export function gpuChoice(
  products: readonly MatmulProduct[],
  {
    is_software,
    features,
    vendor,
  }: Pick<AdapterFacts, 'is_software' | 'features'> & Partial<Pick<AdapterFacts, 'vendor'>>,
): MatmulChoice {
  if (is_software) return {}
  const chosen = products.flatMap((product) => {
    const name = gpuVariants(product.op, product, vendor).find(
      (name) =>
        matmulVariant(name).supports(product.op, product) &&
        missingFeatures(name, features).length === 0,
    )
    return name ? [[shapeClass(product.op, product), name] as const] : []
  })
  return Object.fromEntries(chosen)
}
