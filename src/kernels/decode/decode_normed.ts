// Declares products of one decode step that begin with the RMSNorm before them: fewer dispatches,
// for devices that wait at each.
import { defineKernel } from '../device/base/kernel.ts'
import sigmoid from '../swiglu/swiglu_sigmoid.wgsl?raw'
import { decode_linear, decode_swiglu, decodeGrid } from './decode.ts'
import linear from './decode_linear.wgsl?raw'
import swiglu from './decode_swiglu.wgsl?raw'
import { gatheredTile, normedTile } from './decode_tile.ts'

/** decode_linear of y = rms_norm_forward(a), with `norm_weight` [k] and eps, to rounding: y is not
 * stored, and every lane sums the squares of its rows beside its products. Rows that have ended are
 * left out by fours. Where `gathers` is 1, row r of a is row ids[r] (an embedding's, or a prompt's
 * last state), and `kept` [m, k] gets these rows of the live; else `ids` [m] and `kept` may be
 * anything. */
export const decode_linear_normed = defineKernel({
  name: 'decode_linear_normed',
  wgsl: linear + gatheredTile,
  params: { ...decode_linear.params, gathers: 'u32', eps: 'f32' },
  bindings: {
    a: 'read vec4f',
    norm_weight: 'read vec4f',
    b: 'read vec4f',
    addend: 'read',
    ended: 'read u32',
    ids: 'read u32',
    kept: 'read_write vec4f',
    out: 'read_write',
  },
  workgroups: decodeGrid(4, 64),
  cost: ({ m, n, k, has_addend, gathers }) => ({
    flops: m * n * (2 * k + has_addend) + 4 * m * k,
    bytes: 4 * ((1 + gathers) * m * k + k + n * k + (1 + has_addend) * m * n),
  }),
})

/** decode_swiglu of rms_norm_forward(a), as decode_linear_normed. */
export const decode_swiglu_normed = defineKernel({
  name: 'decode_swiglu_normed',
  wgsl: swiglu + normedTile + sigmoid,
  params: { ...decode_swiglu.params, eps: 'f32' },
  bindings: {
    a: 'read vec4f',
    norm_weight: 'read vec4f',
    b: 'read vec4f',
    ended: 'read u32',
    out: 'read_write',
  },
  workgroups: decodeGrid(4, 32),
  cost: ({ m, n, k }) => ({
    flops: m * n * (4 * k + 5) + 4 * m * k,
    bytes: 4 * (m * k + k + 2 * n * k + m * n),
  }),
})
