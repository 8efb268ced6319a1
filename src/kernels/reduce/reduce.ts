// Declares the kernels that add up rows.
import { defineKernel, foldGrid } from '../device/base/kernel.ts'
import rows_sliced from './reduce_rows.wgsl?raw'
import rows_in_order from './reduce_rows_short.wgsl?raw'

/** out[c] += Σ_r x[r, c], for `x` [R, C] and `out` [C]. Adds to what out holds, in an order that
 * only R decides. */
export const reduce_rows = defineKernel({
  name: 'reduce_rows',
  wgsl: rows_sliced,
  params: { rows: 'u32', cols: 'u32' },
  bindings: { x: 'read', out: 'read_write' },
  workgroups: ({ cols }) => foldGrid(Math.ceil(cols / 8)),
  cost: ({ rows, cols }) => ({ flops: rows * cols, bytes: 4 * (rows * cols + 2 * cols) }),
})

/** reduce_rows with one invocation per column, quicker for few rows: the same sums, to rounding. */
export const reduce_rows_short: typeof reduce_rows = {
  ...reduce_rows,
  name: 'reduce_rows_short',
  wgsl: rows_in_order,
  workgroups: ({ cols }) => foldGrid(Math.ceil(cols / 64)),
}

/** Rows that one invocation adds up in good time on a GPU; more leave too many of its cores
 * idle. */
const MAX_SHORT_ROWS = 128

/** The quicker of the two kernels for this many rows. */
export const reduceRows = (rows: number): typeof reduce_rows =>
  rows <= MAX_SHORT_ROWS ? reduce_rows_short : reduce_rows
