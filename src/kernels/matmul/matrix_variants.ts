// Lists variants of a layer's product that run in a GPU's matrix units. A run takes them only where
// it names them; gradients have none.

import {
  type AnyKernel,
  type Binding,
  foldGrid,
  type Names,
  withElements,
} from '../device/base/kernel.ts'
import { MATRIX_BLOCKS } from '../device/features.ts'
import { matmul_nt, matmul_nt_add } from './matmul.ts'
import {
  MATRIX_TILE,
  type MatrixUnit,
  matrixEnables,
  matrixSource,
  plainFrame,
} from './tiles/matrix_source.ts'
import type { MatmulOp } from './tiles/tile.ts'
import { HEADS } from './tiles/tile_heads.ts'

/** Half of the distance between halves, as a share: what rounding a factor to one of them changes
 * it by at most. */
const HALF_ROUNDING = 2 ** -11

const { rows, cols } = MATRIX_TILE
const workgroups = ({ m, n }: { m: number; n: number }) =>
  foldGrid(Math.ceil(m / rows) * Math.ceil(n / cols))

/** A MatmulVariant (matmul_variants.ts). */
function matrixVariant(name: string, blocks: keyof typeof MATRIX_BLOCKS) {
  const [type, size] = MATRIX_BLOCKS[blocks]
  const unit: MatrixUnit = { type, rows: size, cols: size, depth: size }
  const halves = type === 'f16' ? (['shader-f16'] as const) : []
  const requires = ['subgroups', ...halves, blocks] as const
  const make = (op: 'nt' | 'nt_add', plain: typeof matmul_nt | typeof matmul_nt_add) =>
    ({
      ...plain,
      name: `matmul_${op}_${name}`,
      wgsl: matrixEnables(unit) + matrixSource(plainFrame(op), unit),
      bindings: withElements<Names<Binding>>(plain.bindings, HEADS[op].elements),
      constants: {},
      requires,
      workgroups,
    }) as unknown as AnyKernel
  const made = { nt: make('nt', matmul_nt), nt_add: make('nt_add', matmul_nt_add) }
  return {
    name,
    tile: [rows, cols] as const,
    unit,
    suitsSoftware: false,
    requires,
    rounding: type === 'f16' ? HALF_ROUNDING : 0,
    supports: (op: MatmulOp, { k }: { k: number }) => op in made && k % 4 === 0,
    kernel: (op: MatmulOp) => made[op as 'nt' | 'nt_add'] as never,
  }
}

/** matrices_f16: factors rounded to halves (beyond 65,504 they are infinite, below 6e-8 zero), sums
 * in float32. matrices_f32: float32 throughout, summed in an order of the GPU's own. */
export const MATRIX_VARIANTS = [
  matrixVariant('matrices_f16', 'subgroup-matrix-f16'),
  matrixVariant('matrices_f32', 'subgroup-matrix-f32'),
]
