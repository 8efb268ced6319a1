// The kernels that a product of a decode step may run on, and which of them one does.
import { type AnyKernel, foldGrid } from '../device/kernel.ts'
import {
  MATMUL_VARIANTS,
  type MatmulChoice,
  type MatmulSize,
  type MatmulVariant,
  matmulVariant,
  shapeClass,
} from '../matmul/matmul_variants.ts'
import type { Tile } from '../matmul/tiles/tile.ts'
import { tileSource } from '../matmul/tiles/tile_source.ts'
import { decode_linear } from './decode.ts'
import linear_interface from './decode_linear_interface.wgsl?raw'
import shared from './decode_shared.wgsl?raw'

const made = new Map<string, typeof decode_linear>()

/** decode_linear on the tile of a variant that sums by subgroups; undefined for others. */
function decodeVariant({
  name,
  tiling,
  requires,
}: MatmulVariant): typeof decode_linear | undefined {
  if (!tiling?.subgroups) return undefined
  const known = made.get(name)
  if (known) return known
  const kernel: typeof decode_linear = {
    ...decode_linear,
    name: `decode_linear_${name}`,
    wgsl: source(tiling),
    requires,
    workgroups: ({ m, n }) =>
      foldGrid(
        Math.ceil(m / (tiling.down * tiling.rows)) * Math.ceil(n / (tiling.across * tiling.cols)),
      ),
  }
  made.set(name, kernel)
  return kernel
}

const source = (tile: Tile): string =>
  tileSource('nt', tile, {
    head: { wgsl: `${linear_interface + shared}\nconst TILE_ROWS = ${tile.down * tile.rows}u;\n` },
    is_idle: 'a_first >= params.m || has_ended(a_first)',
  })

/**
 * The kernel for a product out [m, n] = a [m, k] · b [n, k]ᵀ of one decode step: decode_linear, or its twin on the tile that
 * `choice` names for this shape class of nt (or for '*'), where that is a subgroups_ variant. Which rows may keep what they
 * held differs: with a twin those of a tile whose rows have all ended. Its sums are the variant's, not decode_linear's, bit
 * for bit. k is a multiple of 4. Throws RangeError for the name of no variant.
 */
export function decodeLinearKernel(
  choice: MatmulChoice | undefined,
  size: MatmulSize,
): typeof decode_linear {
  const shape_class = shapeClass('nt', size)
  const name = choice?.[shape_class] ?? choice?.['*']
  const variant = name === undefined ? undefined : matmulVariant(name, shape_class)
  return (variant && decodeVariant(variant)) ?? decode_linear
}

/** Every kernel once. */
export const variants: readonly AnyKernel[] = MATMUL_VARIANTS.flatMap(
  (variant) => decodeVariant(variant) ?? [],
) as unknown as AnyKernel[]
