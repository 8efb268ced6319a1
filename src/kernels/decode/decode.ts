// Declares products of one decode step: one token of every row, of which some have ended.
import { defineKernel, foldGrid } from '../device/base/kernel.ts'
import sigmoid from '../swiglu/swiglu_sigmoid.wgsl?raw'
import linear from './decode_linear.wgsl?raw'
import swiglu from './decode_swiglu.wgsl?raw'
import { addingTile, type LaneRows, plainTile, tileRows } from './decode_tile.ts'

/** Workgroups of products whose lanes have so many rows. */
export const decodeGrid =
  (laneRows: LaneRows, tileWidth: 32 | 64) =>
  ({ m, n }: Record<'m' | 'n', number>) =>
    foldGrid(Math.ceil(m / tileRows(laneRows)) * Math.ceil(n / tileWidth))

/** matmul_nt and matmul_nt_add for rows that may have ended: out[m, n] = Σ_k a[m, k] b[n, k] (+
 * addend, when has_addend is 1, with addend_stride as in matmul_nt_add). `ended` [m]: 1 = nobody
 * reads this row; eight neighbouring rows that have all ended, from a multiple of eight on, cost
 * next to nothing and keep what they held. The others' numbers are matmul's, bit for bit. k is a
 * multiple of 4. */
export const decode_linear = defineKernel({
  name: 'decode_linear',
  wgsl: linear + addingTile(8),
  params: { m: 'u32', n: 'u32', k: 'u32', has_addend: 'u32', addend_stride: 'u32' },
  bindings: {
    a: 'read vec4f',
    b: 'read vec4f',
    addend: 'read',
    ended: 'read u32',
    out: 'read_write',
  },
  workgroups: decodeGrid(8, 64),
  cost: ({ m, n, k, has_addend }) => ({
    flops: m * n * (2 * k + has_addend),
    bytes: 4 * (m * k + n * k + (1 + has_addend) * m * n),
  }),
})

/** decode_linear for hardware, in lanes of four rows: rows that have ended are left out by fours.
 * The same bits. */
export const decode_linear_short: typeof decode_linear = {
  ...decode_linear,
  name: 'decode_linear_short',
  wgsl: linear + addingTile(4),
  workgroups: decodeGrid(4, 64),
}

/** decode_linear and swiglu_forward in one: out [m, n] = silu(a · gateᵀ) · (a · upᵀ) for b = [gate;
 * up], [2n, k]. The same bits as the two after one another. */
export const decode_swiglu = defineKernel({
  name: 'decode_swiglu',
  wgsl: swiglu + plainTile + sigmoid,
  params: { m: 'u32', n: 'u32', k: 'u32' },
  bindings: { a: 'read vec4f', b: 'read vec4f', ended: 'read u32', out: 'read_write' },
  workgroups: decodeGrid(8, 32),
  cost: ({ m, n, k }) => ({ flops: m * n * (4 * k + 5), bytes: 4 * (m * k + 2 * n * k + m * n) }),
})
