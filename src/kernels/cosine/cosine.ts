// Declares the kernel of norms and cosines of matching rows.
import { defineKernel, foldGrid } from '../device/base/kernel.ts'
import reduce from '../wgsl/workgroup_reduce.wgsl?raw'
import cosine from './row_cosine.wgsl?raw'

/** Rows up to this wide are one invocation's work, as in rms_norm. */
const NARROW = 256

/** Norms and the cosine of the angle between matching rows: cosine = x · y / (max(‖x‖, 1e-8)
 * max(‖y‖, 1e-8)).
 *
 * x, y [R, C] → cosine, norm_x, norm_y [R]; norms are L2. A row of zeros has cosine 0. Squares are
 * summed in f32, so norms below 1e-19 or above 1e19 are out of range.
 *
 * Source: torch.nn.functional.cosine_similarity with its default eps. */
export const row_cosine = defineKernel({
  name: 'row_cosine',
  wgsl: cosine + reduce,
  constants: { NARROW },
  params: { rows: 'u32', cols: 'u32' },
  bindings: {
    x: 'read',
    y: 'read',
    cosine: 'read_write',
    norm_x: 'read_write',
    norm_y: 'read_write',
  },
  workgroups: ({ rows, cols }) => foldGrid(cols <= NARROW ? Math.ceil(rows / 64) : rows),
})
