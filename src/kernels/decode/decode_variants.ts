// Lists the kernels that a product of a decode step may run on, and which of them one does.
import { type AnyKernel, foldGrid } from '../device/base/kernel.ts'
import {
  isNarrowLayer,
  MATMUL_VARIANTS,
  type MatmulChoice,
  type MatmulSize,
  type MatmulVariant,
  matmulVariant,
  namedVariant,
  SOON_COMPILED,
} from '../matmul/matmul_variants.ts'
import {
  MATRIX_TILE,
  type MatrixFrame,
  matrixEnables,
  matrixSource,
} from '../matmul/tiles/matrix_source.ts'
import { tileSource } from '../matmul/tiles/tile_source.ts'
import { decode_linear, decode_linear_short } from './decode.ts'
import shared from './decode_shared.wgsl?raw'

const made = new Map<string, typeof decode_linear>()

/** decode_linear on the tile of a variant that sums by subgroups or multiplies in matrix units, or
 * of narrow layers; undefined for others. */
function decodeVariant(variant: MatmulVariant): typeof decode_linear | undefined {
  const { name, requires, tile } = variant
  const known = made.get(name)
  if (known) return known
  const wgsl = source(variant)
  if (!wgsl) return undefined
  const kernel: typeof decode_linear = {
    ...decode_linear,
    name: `decode_linear_${name}`,
    wgsl,
    requires,
    workgroups: ({ m, n }) => foldGrid(Math.ceil(m / tile[0]) * Math.ceil(n / tile[1])),
  }
  made.set(name, kernel)
  return kernel
}

/** What a tile needs to leave out rows that have ended, `count` of them from row `first` on. */
const frame = (count: number, first = 'a_first') => ({
  head: `${shared}\nconst TILE_ROWS = ${count}u;\n`,
  isIdle: `a_first >= params.m || has_ended(${first})`,
})

/** What a decoded token's product has around its multiplication in matrix units. */
export const MATRIX_FRAME: MatrixFrame = frame(MATRIX_TILE.rows)

/** A tile whose lanes wait for no others is left lane by lane. */
function source({ name, tiling, unit }: MatmulVariant): string | undefined {
  if (unit) return matrixEnables(unit) + matrixSource(MATRIX_FRAME, unit)
  if (!tiling || !(tiling.subgroups || name === SOON_COMPILED)) return undefined
  const { down, across, rows, subgroups } = tiling
  const { head, isIdle } = subgroups
    ? frame(down * rows)
    : frame(rows, `a_first + lane / ${across}u * ${rows}u`)
  return tileSource('nt', tiling, { head: { wgsl: head, takes: 'sum' }, isIdle })
}

/** The twin of decode_linear on the tile that `choice` names for this shape class of nt (or for
 * '*'), where that is a subgroups_ or matrices_ variant: its sums are the variant's, not
 * decode_linear's, bit for bit. Throws RangeError for the name of no variant. */
export function chosenDecodeKernel(
  choice: MatmulChoice | undefined,
  size: MatmulSize,
): typeof decode_linear | undefined {
  const variant = namedVariant(choice, 'nt', size)
  return variant?.tiling?.subgroups || variant?.unit ? decodeVariant(variant) : undefined
}

/** The kernel for a product out [m, n] = a [m, k] · b [n, k]ᵀ of one decode step: the chosen one,
 * else decode_linear, or for a narrow layer, and where `choice` names SOON_COMPILED for '*', its
 * twin of smaller tiles, which has the same sums, bit for bit. Which rows may keep what
 * they held differs: with a twin those of a tile, or of a lane, whose rows have all ended. k is a
 * multiple of 4. `isShort`: decode_linear_short in place of decode_linear. Throws RangeError for
 * the name of no variant. */
export function decodeLinearKernel(
  choice: MatmulChoice | undefined,
  size: MatmulSize,
  isShort = false,
): typeof decode_linear {
  const chosen = chosenDecodeKernel(choice, size)
  if (chosen) return chosen
  const isSmall = isNarrowLayer(size.n, size.k) || choice?.['*'] === SOON_COMPILED
  const twin = isSmall ? decodeVariant(matmulVariant(SOON_COMPILED)) : undefined
  return twin ?? (isShort ? decode_linear_short : decode_linear)
}

/** Every kernel once. */
export const variants: readonly AnyKernel[] = MATMUL_VARIANTS.flatMap(
  (variant) => decodeVariant(variant) ?? [],
) as unknown as AnyKernel[]
