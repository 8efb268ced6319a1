// Declares what Muon does to one matrix beside the matrix products of its Newton–Schulz steps. The
// norm of all gradients, its clip and the rule for gradients that are not finite are those of
// kernels/optimizer, whose control these kernels read.
import { defineKernel, foldGrid } from '../device/base/kernel.ts'
import { CONTROL_INDICES } from '../optimizer/control.ts'
import { BLOCKS_CONSTANT, ONE_RATE, OPTIMIZER_BLOCKS, OWN_RATES } from '../optimizer/optimizer.ts'
import reduce from '../wgsl/workgroup_reduce.wgsl?raw'
import direction from './muon_direction.wgsl?raw'
import normalize from './muon_normalize.wgsl?raw'
import polynomial from './muon_polynomial.wgsl?raw'
import update from './muon_update.wgsl?raw'

const lanes = (count: number) => foldGrid(Math.ceil(count / 64))

/** The momentum of the matrix at `offset` of its buffers one step on, and the direction of its
 * step before it is made orthogonal. v is what AdamW would keep: Muon has no use for it, and a
 * phase with AdamW can then follow without a first step that is too long. Changes nothing when
 * is_finite is 0.
 *
 * Source: torch.optim.Muon (_single_tensor_muon). */
export const muon_direction = defineKernel({
  name: 'muon_direction',
  wgsl: direction + CONTROL_INDICES,
  params: {
    offset: 'u32',
    count: 'u32',
    nesterov: 'u32',
    momentum: 'f32',
    one_minus_momentum: 'f32',
    beta2: 'f32',
    one_minus_beta2: 'f32',
  },
  bindings: {
    gradients: 'read',
    control: 'read',
    m: 'read_write',
    v: 'read_write',
    direction: 'read_write',
  },
  workgroups: ({ count }) => lanes(count),
  cost: ({ count }) => ({ flops: 10 * count, bytes: 4 * 6 * count }),
})

/** x [count] over its own norm, which grad_norm_partial has put into `partials`. */
export const muon_normalize = defineKernel({
  name: 'muon_normalize',
  wgsl: normalize + BLOCKS_CONSTANT + reduce,
  params: { count: 'u32', eps: 'f32' },
  bindings: { partials: 'read', x: 'read_write' },
  workgroups: ({ count }) => foldGrid(Math.ceil(count / 4096)),
  cost: ({ count }) => ({ flops: count, bytes: 4 * (2 * count + OPTIMIZER_BLOCKS) }),
})

/** a I + b gram + c gram² [size, size], from gram and its square, in place of the square. A
 * Newton–Schulz step multiplies by it. */
export const muon_polynomial = defineKernel({
  name: 'muon_polynomial',
  wgsl: polynomial,
  params: { size: 'u32', a: 'f32', b: 'f32', c: 'f32' },
  bindings: { gram: 'read', square: 'read_write' },
  workgroups: ({ size }) => lanes(size * size),
  cost: ({ size }) => ({ flops: 4 * size * size, bytes: 12 * size * size }),
})

const updateParams = {
  offset: 'u32',
  count: 'u32',
  segment: 'u32',
  lr: 'f32',
  lr_ratio: 'f32',
  weight_decay: 'f32',
} as const
const updateBindings = { direction: 'read', control: 'read', weights: 'read_write' } as const

/** One step of the matrix at `offset` along `direction` [count], with decoupled decay. Changes
 * nothing when is_finite is 0. */
export const muon_update = defineKernel({
  name: 'muon_update',
  wgsl: update + CONTROL_INDICES + ONE_RATE,
  params: updateParams,
  bindings: updateBindings,
  workgroups: ({ count }) => lanes(count),
  cost: ({ count }) => ({ flops: 4 * count, bytes: 12 * count }),
})

/** muon_update with lr_factors [segments] (≥ 0), as adamw_update_rates has them. */
export const muon_update_rates = defineKernel({
  name: 'muon_update_rates',
  wgsl: update + CONTROL_INDICES + OWN_RATES,
  params: updateParams,
  bindings: { ...updateBindings, lr_factors: 'read' },
  workgroups: ({ count }) => lanes(count),
  cost: ({ count }) => ({ flops: 4 * count, bytes: 12 * count }),
})
