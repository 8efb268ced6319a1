// Declares RMSNorm and its gradients.
import { type AnyKernel, defineKernel, foldGrid } from '../device/base/kernel.ts'
import reduce from '../wgsl/workgroup_reduce.wgsl?raw'
import backward from './rms_norm_backward.wgsl?raw'
import forward from './rms_norm_forward.wgsl?raw'
import rows from './rms_norm_rows.wgsl?raw'
import weightGrad from './rms_norm_weight_grad.wgsl?raw'

/** Rows up to this wide are one invocation's work: barriers cost software adapters more than they
 * save. */
const NARROW = 256
/** The same on a GPU, most of which one invocation a row would leave idle: 1,024 rows are 16
 * workgroups. */
const NARROW_ON_GPU = 8
const rowGrid =
  (narrow: number) =>
  ({ rows, cols }: { rows: number; cols: number }) =>
    foldGrid(cols <= narrow ? Math.ceil(rows / 64) : rows)

/** The kernel, and on a GPU its twin that shares narrower rows among lanes too. */
function sharedOnGpu<K extends { readonly name: string }>(kernel: K): K {
  const narrow = { constants: { NARROW: NARROW_ON_GPU }, workgroups: rowGrid(NARROW_ON_GPU) }
  const onGpu = { ...kernel, name: `${kernel.name}_shared`, ...narrow } as unknown as AnyKernel
  return { ...kernel, onGpu }
}

/** y[r, c] = x[r, c] · inv_rms[r] · weight[c], with inv_rms[r] = 1 / sqrt(mean_c x[r, c]² + eps).
 * `x`, `y` [R, C], `weight` [C], `inv_rms` [R], which the backward kernels read. Source: Zhang and
 * Sennrich 2019, arXiv 1910.07467, eq. 4; eps as in Hugging Face's Qwen3RMSNorm. */
export const rms_norm_forward = sharedOnGpu(
  defineKernel({
    name: 'rms_norm_forward',
    wgsl: forward + rows + reduce,
    constants: { NARROW },
    params: { rows: 'u32', cols: 'u32', eps: 'f32' },
    bindings: { x: 'read', weight: 'read', y: 'read_write', inv_rms: 'read_write' },
    workgroups: rowGrid(NARROW),
    cost: ({ rows, cols }) => ({
      flops: 4 * rows * cols,
      bytes: 4 * (2 * rows * cols + cols + rows),
    }),
  }),
)

/** The gradient of rms_norm_forward with respect to x: `d_y` [R, C] → `d_x` [R, C].
 * `accumulate` 1 adds to what d_x holds, as the residual stream needs; 0 overwrites it. */
export const rms_norm_backward = sharedOnGpu(
  defineKernel({
    name: 'rms_norm_backward',
    wgsl: backward + rows + reduce,
    constants: { NARROW },
    params: { rows: 'u32', cols: 'u32', accumulate: 'u32' },
    bindings: { x: 'read', weight: 'read', inv_rms: 'read', d_y: 'read', d_x: 'read_write' },
    workgroups: rowGrid(NARROW),
    cost: ({ rows, cols, accumulate }) => ({
      flops: (6 + accumulate) * rows * cols,
      bytes: 4 * ((3 + accumulate) * rows * cols + cols + rows),
    }),
  }),
)

/** The gradient of rms_norm_forward with respect to weight, summed within blocks of rows:
 * `partials` [ceil(R / rows_per_block), C], overwritten. reduce_rows adds the blocks up. */
export const rms_norm_weight_grad = defineKernel({
  name: 'rms_norm_weight_grad',
  wgsl: weightGrad,
  params: { rows: 'u32', cols: 'u32', rows_per_block: 'u32' },
  bindings: { x: 'read', inv_rms: 'read', d_y: 'read', partials: 'read_write' },
  workgroups: ({ rows, cols, rows_per_block }) =>
    foldGrid(Math.ceil((Math.ceil(rows / rows_per_block) * cols) / 64)),
  cost: ({ rows, cols, rows_per_block }) => ({
    flops: 3 * rows * cols,
    bytes: 4 * (2 * rows * cols + rows + Math.ceil(rows / rows_per_block) * cols),
  }),
})
