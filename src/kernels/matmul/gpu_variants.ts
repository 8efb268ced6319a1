// Says which variants of matrix products suit a GPU, before any is measured there. The rules are
// what an NVIDIA H100 showed (docs/log/performance.md): few tiles leave most of it idle unless
// lanes share k; many tiles are limited by arithmetic.
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

/** Tiles of 64 x 64 from which on they fill a large GPU by themselves. */
const MANY_TILES = { nn: 256, nt: 200, nt_add: 200, tn: 300 }
/** Below this many, tiles of 32 x 32 leave a GPU idle too. */
const FEW_TILES = 32
/** Up to this k a product ends before lanes that share it have gained what their last sum costs. */
const SHORT_K = 127

/** The variants worth a measurement on a GPU, best guess first: a few, because each costs its
 * compilation. */
export function gpuVariants(op: MatmulOp, { m, n, k }: MatmulSize): readonly VariantName[] {
  const tiles = Math.ceil(m / 64) * Math.ceil(n / 64)
  const isLarge = tiles >= MANY_TILES[op]
  if (op === 'tn')
    return isLarge
      ? ['staged_64x64_8x8', 'staged_32x32_4x4_by_4', 'staged_32x32_4x4', 'staged_128x128_8x8']
      : ['staged_32x32_4x4_by_4', 'staged_32x32_4x4', 'slices_16x16', 'staged_64x64_8x8']
  if (isLarge) return ['staged_64x64_8x8', 'slices_32x32', 'staged_128x128_8x8', 'staged_64x64_4x4']
  if (op === 'nn')
    return tiles < FEW_TILES
      ? ['slices_16x16', 'skinny_8x16', 'slices_32x32', 'staged_32x32_4x4_by_4']
      : ['slices_32x32', 'skinny_8x16', 'slices_16x16', 'staged_64x64_8x8']
  return k <= SHORT_K
    ? ['staged_32x32_4x4', 'subgroups_8x16', 'slices_32x32', 'staged_64x64_4x4']
    : ['subgroups_8x16', 'subgroups_16x16', 'slices_32x32', 'slices_16x16']
}

/** The variants that a run's products take on a GPU until they are measured, by class. Empty for a
 * software adapter, which runs on the defaults, as does a class whose size none of gpuVariants
 * supports. */
export function gpuChoice(
  products: readonly MatmulProduct[],
  { is_software, features }: Pick<AdapterFacts, 'is_software' | 'features'>,
): MatmulChoice {
  if (is_software) return {}
  const chosen = products.flatMap((product) => {
    const name = gpuVariants(product.op, product).find(
      (name) =>
        matmulVariant(name).supports(product.op, product) &&
        missingFeatures(name, features).length === 0,
    )
    return name ? [[shapeClass(product.op, product), name] as const] : []
  })
  return Object.fromEntries(chosen)
}
