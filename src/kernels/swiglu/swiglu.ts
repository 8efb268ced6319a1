// Declares SwiGLU and its gradient.
import { defineKernel, foldGrid } from '../device/base/kernel.ts'
import backward from './swiglu_backward.wgsl?raw'
import forward from './swiglu_forward.wgsl?raw'
import sigmoid from './swiglu_sigmoid.wgsl?raw'

/** A grid with one invocation per element of [rows, intermediate_size]. */
const elements = (p: { rows: number; intermediate_size: number }) =>
  foldGrid(Math.ceil((p.rows * p.intermediate_size) / 64))

/** out = silu(gate) · up, for `gate_up` [R, 2F] whose rows hold gate, then up, and `out` [R, F].
 * Source: Shazeer 2020, arXiv 2002.05202, eq. 6 (the product inside FFN_SwiGLU). */
export const swiglu_forward = defineKernel({
  name: 'swiglu_forward',
  wgsl: forward + sigmoid,
  params: { rows: 'u32', intermediate_size: 'u32' },
  bindings: { gate_up: 'read', out: 'read_write' },
  workgroups: elements,
  cost: ({ rows, intermediate_size: F }) => ({ flops: 5 * rows * F, bytes: 4 * 3 * rows * F }),
})

/** The gradient of swiglu_forward: `d_out` [R, F] → `d_gate_up` [R, 2F], overwritten. */
export const swiglu_backward = defineKernel({
  name: 'swiglu_backward',
  wgsl: backward + sigmoid,
  params: { rows: 'u32', intermediate_size: 'u32' },
  bindings: { gate_up: 'read', d_out: 'read', d_gate_up: 'read_write' },
  workgroups: elements,
  cost: ({ rows, intermediate_size: F }) => ({ flops: 11 * rows * F, bytes: 4 * 5 * rows * F }),
})
