// Adds one vector to every row of a state.
import { defineKernel, foldGrid } from '../device/base/kernel.ts'
import wgsl from './add_vector.wgsl?raw'

/** state[r, c] += vector[c], for `state` [R, C] and `vector` [C]: one direction for every token of
 * a residual stream. */
export const add_vector = defineKernel({
  name: 'add_vector',
  wgsl,
  params: { rows: 'u32', cols: 'u32' },
  bindings: { vector: 'read', state: 'read_write' },
  workgroups: ({ rows, cols }) => foldGrid(Math.ceil((rows * cols) / 64)),
  cost: ({ rows, cols }) => ({ flops: rows * cols, bytes: 4 * (2 * rows * cols + cols) }),
})
