// Declares products of training that do the step after them as well, while their results are still
// in registers.
import { type AnyKernel, defineKernel, foldGrid, withElements } from '../device/base/kernel.ts'
import {
  chosenVariant,
  MATMUL_VARIANTS,
  type MatmulChoice,
  type MatmulSize,
  type MatmulVariant,
} from './matmul_variants.ts'
import type { FusedOp, MatmulOp, Tile } from './tiles/tile.ts'
import { headOf } from './tiles/tile_heads.ts'
import { tileSource } from './tiles/tile_source.ts'

type Shape = Readonly<Record<'m' | 'n' | 'k', number>>
const params = { m: 'u32', n: 'u32', k: 'u32' } as const

/** nt and swiglu_forward: `gate_up` [m, 2n] = a [m, k] · b [2n, k]ᵀ and `out` [m, n] = silu(gate) ·
 * up, both overwritten. The bits of the two kernels on the same variant. */
const nt_swiglu = (name: string, tile: Tile) =>
  defineKernel({
    name: `matmul_nt_swiglu_${name}`,
    wgsl: tileSource('nt_swiglu', tile),
    params,
    bindings: withElements(
      { a: 'read', b: 'read', gate_up: 'read_write', out: 'read_write' },
      headOf('nt_swiglu', tile).elements,
    ),
    workgroups: grid(tile, 2),
    cost: ({ m, n, k }) => ({
      flops: 4 * m * n * k + 5 * m * n,
      bytes: 4 * (m * k + 2 * n * k + 3 * m * n),
    }),
  })

/** nn and swiglu_backward: `d_gate_up` [m, 2n], overwritten, from `gate_up` [m, 2n] and d_out [m,
 * n] = a [m, k] · b [k, n], which is never written. The bits of the two kernels on the same
 * variant. */
const nn_swiglu = (name: string, tile: Tile) =>
  defineKernel({
    name: `matmul_nn_swiglu_${name}`,
    wgsl: tileSource('nn_swiglu', tile),
    params,
    bindings: withElements(
      { a: 'read', b: 'read', gate_up: 'read', d_gate_up: 'read_write' },
      headOf('nn_swiglu', tile).elements,
    ),
    workgroups: grid(tile),
    cost: ({ m, n, k }) => ({
      flops: 2 * m * n * k + 11 * m * n,
      bytes: 4 * (m * k + n * k + 4 * m * n),
    }),
  })

/** tn and reduce_rows: `out` [m, n] += a [k, m]ᵀ · b [k, n] and `bias` [m] += Σ_k a[k, m]. The
 * weight's gradient has the bits of tn; the bias's sums are in the product's order, which is not
 * that of reduce_rows. */
const tn_bias = (name: string, tile: Tile) =>
  defineKernel({
    name: `matmul_tn_bias_${name}`,
    wgsl: tileSource('tn_bias', tile),
    params,
    bindings: withElements(
      { a: 'read', b: 'read', out: 'read_write', bias: 'read_write' },
      headOf('tn_bias', tile).elements,
    ),
    workgroups: grid(tile),
    cost: ({ m, n, k }) => ({
      flops: 2 * m * n * k + m * k,
      bytes: 4 * (m * k + n * k + 2 * m * n + 2 * m),
    }),
  })

/** One workgroup per tile of a product of `parts` · n columns. */
const grid =
  ({ down, across, rows, cols }: Tile, parts = 1) =>
  ({ m, n }: Shape) =>
    foldGrid(Math.ceil(m / (down * rows)) * Math.ceil((parts * n) / (across * cols)))

export interface FusedKernels {
  readonly nt_swiglu: ReturnType<typeof nt_swiglu>
  readonly nn_swiglu: ReturnType<typeof nn_swiglu>
  readonly tn_bias: ReturnType<typeof tn_bias>
}

/** The product that each begins with, and how it is made. */
const FUSED: { [Op in FusedOp]: [MatmulOp, (name: string, tile: Tile) => FusedKernels[Op]] } = {
  nt_swiglu: ['nt', nt_swiglu],
  nn_swiglu: ['nn', nn_swiglu],
  tn_bias: ['tn', tn_bias],
}

export const FUSED_OPS = Object.keys(FUSED) as FusedOp[]

/** The product whose choice holds for a fused one: for nt_swiglu gate_up, which is twice as wide as
 * out. */
const plainProduct = (op: FusedOp, { m, n, k }: MatmulSize): [MatmulOp, MatmulSize] => [
  FUSED[op][0],
  { m, n: op === 'nt_swiglu' ? 2 * n : n, k },
]

const made = new Map<string, AnyKernel>()

/** The fused kernel of one variant; undefined where it has none for this size, or sums by
 * subgroups. `size` is of the fused op's params. */
export function fusedVariant<Op extends FusedOp>(
  { name, tiling, supports }: MatmulVariant,
  op: Op,
  size: MatmulSize,
): FusedKernels[Op] | undefined {
  if (!tiling || tiling.subgroups || !supports(...plainProduct(op, size))) return undefined
  const key = `${op} ${name}`
  if (!made.has(key)) made.set(key, FUSED[op][1](name, tiling) as unknown as AnyKernel)
  return made.get(key) as unknown as FusedKernels[Op]
}

/** The fused kernel for a product, on the variant that its plain product is chosen to run on
 * (matmulKernel), so nothing is tuned twice. Undefined where that variant has none: the caller then
 * runs the plain product and what follows it. */
export const fusedKernel = <Op extends FusedOp>(
  choice: MatmulChoice | undefined,
  op: Op,
  size: MatmulSize,
): FusedKernels[Op] | undefined =>
  fusedVariant(chosenVariant(choice, ...plainProduct(op, size)), op, size)

/** Every kernel once. */
export const variants: readonly AnyKernel[] = MATMUL_VARIANTS.flatMap((variant) =>
  FUSED_OPS.flatMap((op) => {
    const kernel = fusedVariant(variant, op, { m: 64, n: 64, k: 64 })
    return kernel ? [kernel as unknown as AnyKernel] : []
  }),
)
