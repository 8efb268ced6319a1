import { defineKernel } from '../gpu.ts'
import reduceRows from './reduce_rows.wgsl?raw'

/**
 * out[c] += Σ_r x[r, c], for `x` [R, C] and `out` [C]. Adds to what out holds, in an order that only R decides.
 * C is at most 524,280.
 */
export const reduce_rows = defineKernel({
  name: 'reduce_rows',
  wgsl: reduceRows,
  params: { rows: 'u32', cols: 'u32' },
  bindings: { x: 'read', out: 'read_write' },
  workgroups: ({ cols }) => [Math.ceil(cols / 8)],
})
