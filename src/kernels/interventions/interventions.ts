// Declares the kernel that changes states by a table of interventions.
import { defineKernel, foldGrid } from '../device/base/kernel.ts'
import apply from './apply_interventions.wgsl?raw'

/** Numbers of an entry of the table. */
export const ENTRY_SIZE = 8
/** What an entry adds its values to: nothing, one of the two bases, or the state itself. */
export const KEEPS = { nothing: 0, base_a: 1, base_b: 2, state: 3 } as const

/** Changes a state [tokens, cols] at one place of a forward pass, by a table that is written
 * between replays: for each of `places` its first entry and how many it has, then ENTRY_SIZE
 * numbers per entry: first column, columns, what is kept (KEEPS), where its values begin, their
 * stride from token to token (0 = the same for all), and 1 + the row of `chosen` that says which
 * tokens it is for (0 = all). Token m of the state is token m · mask_stride + mask_offset of
 * `chosen` and of values. */
export const apply_interventions = defineKernel({
  name: 'apply_interventions',
  wgsl: apply,
  params: {
    tokens: 'u32',
    cols: 'u32',
    place: 'u32',
    places: 'u32',
    mask_tokens: 'u32',
    mask_stride: 'u32',
    mask_offset: 'u32',
  },
  bindings: {
    table: 'read u32',
    values: 'read',
    chosen: 'read u32',
    base_a: 'read',
    base_b: 'read',
    state: 'read_write',
  },
  workgroups: ({ tokens, cols }) => foldGrid(Math.ceil((tokens * cols) / 64)),
  cost: ({ tokens, cols }) => ({ flops: tokens * cols, bytes: 12 * tokens * cols }),
})
