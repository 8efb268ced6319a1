// Declares the wide side of a low-rank update of a linear layer (LoRA): what is of rank r on the
// other side is a plain matrix product.
import { defineKernel, foldGrid } from '../device/base/kernel.ts'
import add from './low_rank_add.wgsl?raw'
import input_grad from './low_rank_input_grad.wgsl?raw'
import modules from './low_rank_modules.wgsl?raw'
import weight_grad from './low_rank_weight_grad.wgsl?raw'

/** Columns [first, first + rows) of a product's output: one module of those that share the
 * product. */
export interface ModuleColumns {
  readonly first: number
  readonly rows: number
}

/** The params that say where up to three modules lie, in their order; the last are empty where
 * there are fewer. */
export function moduleParams(columns: readonly ModuleColumns[]) {
  const [a, b, c] = [0, 1, 2].map((slot) => columns[slot] ?? { first: 0, rows: 0 })
  const [first_0, first_1, first_2] = [a.first, b.first, c.first]
  return { first_0, rows_0: a.rows, first_1, rows_1: b.rows, first_2, rows_2: c.rows }
}

const params = {
  tokens: 'u32',
  width: 'u32',
  rank: 'u32',
  first_0: 'u32',
  rows_0: 'u32',
  first_1: 'u32',
  rows_1: 'u32',
  first_2: 'u32',
  rows_2: 'u32',
  scale: 'f32',
} as const
type Params = { readonly [K in keyof typeof params]: number }

const rowsOf = ({ rows_0, rows_1, rows_2 }: Params) => rows_0 + rows_1 + rows_2
const slotsOf = ({ rows_1, rows_2 }: Params) => 1 + (rows_1 > 0 ? 1 : 0) + (rows_2 > 0 ? 1 : 0)
const grid = (elements: number) => foldGrid(Math.ceil(elements / 64))
/** Every element of d_y or y meets r columns of b. */
const flops = (p: Params) => 2 * p.tokens * rowsOf(p) * p.rank

/** y [tokens, width] += scale · low · Bᵀ in the columns of each module, for `low` [tokens, slots ·
 * rank] = x · Aᵀ of all modules and `b` [rows of all modules, rank]. Source: Hu et al. 2021, arXiv
 * 2106.09685, eq. 3. */
export const low_rank_add = defineKernel({
  name: 'low_rank_add',
  wgsl: modules + add,
  params,
  bindings: { low: 'read', b: 'read', y: 'read_write' },
  workgroups: (p) => grid(p.tokens * rowsOf(p)),
  cost: (p) => ({
    flops: flops(p),
    bytes: 4 * (p.tokens * (2 * rowsOf(p) + slotsOf(p) * p.rank) + rowsOf(p) * p.rank),
  }),
})

/** The gradient of low_rank_add's `low`: `d_low` [tokens, slots · rank] = scale · d_y · B,
 * overwritten. */
export const low_rank_input_grad = defineKernel({
  name: 'low_rank_input_grad',
  wgsl: modules + input_grad,
  params,
  bindings: { d_y: 'read', b: 'read', d_low: 'read_write' },
  workgroups: (p) => grid(p.tokens * slotsOf(p) * p.rank),
  cost: (p) => ({
    flops: flops(p),
    bytes: 4 * (p.tokens * (rowsOf(p) + slotsOf(p) * p.rank) + rowsOf(p) * p.rank),
  }),
})

/** The gradient of low_rank_add's `b`: `d_b` [rows, rank] += scale · d_yᵀ · low. */
export const low_rank_weight_grad = defineKernel({
  name: 'low_rank_weight_grad',
  wgsl: modules + weight_grad,
  params,
  bindings: { d_y: 'read', low: 'read', d_b: 'read_write' },
  workgroups: (p) => grid(rowsOf(p) * p.rank),
  cost: (p) => ({
    flops: flops(p),
    bytes: 4 * (p.tokens * (rowsOf(p) + slotsOf(p) * p.rank) + 2 * rowsOf(p) * p.rank),
  }),
})
