// Records clipping by the global norm and AdamW, in three dispatches for each buffer of weights and
// without a readback.
//
// Weights, gradients and both moments share one layout, in one buffer each or in several.
// Parameters start at multiples of 64 elements, and each 64-element chunk belongs to one segment
// (embedding, block 1…L, final norm). A segment keeps its own Adam step count: a block that joins
// the training later starts at t = 1, as a torch parameter without gradient so far does. A chunk of
// norms or biases is marked, because weight decay may leave them out.
//
// Two kernels come twice: where every segment learns at the same rate, and with a factor of the
// rate for each segment (torch's parameter groups), where 0 means frozen (torch's requires_grad =
// False).
import { defineKernel, foldGrid } from '../device/base/kernel.ts'
import reduce from '../wgsl/workgroup_reduce.wgsl?raw'
import update from './adamw_update.wgsl?raw'
import { CONTROL_INDICES, VECTOR_CHUNK } from './control.ts'
import finish from './grad_norm_finish.wgsl?raw'
import partial from './grad_norm_partial.wgsl?raw'

export { CONTROL } from './control.ts'

/** Partial sums of grad_norm_partial: fixed, so that a norm does not depend on the adapter. */
export const OPTIMIZER_BLOCKS = 4096

/** The same as a constant of WGSL. */
export const BLOCKS_CONSTANT = `const OPTIMIZER_BLOCKS = ${OPTIMIZER_BLOCKS}u;\n`
const vectorBit = `const VECTOR_CHUNK = ${VECTOR_CHUNK}u;\n`

/** Every segment at the full rate. */
export const ONE_RATE = 'fn lrFactor(segment: u32) -> f32 { return 1.0; }\n'
/** The rates as the storage buffer lr_factors [segments]. */
export const OWN_RATES = 'fn lrFactor(segment: u32) -> f32 { return lr_factors[segment]; }\n'

/** partials[b] = Σ gradients² over every OPTIMIZER_BLOCKS-th element from the b-th on. gradients[0]
 * is element `first` of all that are trained; with `accumulate` the sums of earlier elements
 * continue. So a norm over several buffers has the bits of one.
 *
 * gradients [≥ count] → partials [OPTIMIZER_BLOCKS]. Squares of finite gradients above 1.8e19
 * overflow f32: such a step counts as non-finite. */
export const grad_norm_partial = defineKernel({
  name: 'grad_norm_partial',
  wgsl: partial,
  params: { count: 'u32', first: 'u32', accumulate: 'u32' },
  bindings: { gradients: 'read', partials: 'read_write' },
  workgroups: () => [OPTIMIZER_BLOCKS / 64],
  cost: ({ count }) => ({ flops: 2 * count, bytes: 4 * (count + OPTIMIZER_BLOCKS) }),
})

const finishParams = {
  max_norm: 'f32',
  segments: 'u32',
  active_segments: 'u32',
  one_minus_beta1: 'f32',
  one_minus_beta2: 'f32',
} as const
const finishBindings = {
  partials: 'read u32',
  control: 'read_write',
  corrections: 'read_write',
} as const

/** norm = sqrt(Σ partials); clip_coef = min(1, max_norm / (norm + 1e-6)); and, when the norm is
 * finite, the bias corrections c = 1 - βᵗ of segments 0…active_segments - 1 go one step on: c ← c +
 * (1 - β)(1 - c).
 *
 * partials [OPTIMIZER_BLOCKS] → control [CONTROL.length], corrections [segments, 2] (c1, c2; both
 * start at 0). A non-finite norm (by bit pattern) advances nothing but skipped_steps.
 *
 * Source: torch.nn.utils.clip_grad_norm_; skipping as verl verl/workers/actor/dp_actor.py
 * _optimizer_step. */
export const grad_norm_finish = defineKernel({
  name: 'grad_norm_finish',
  wgsl: finish + BLOCKS_CONSTANT + CONTROL_INDICES + reduce + ONE_RATE,
  params: finishParams,
  bindings: finishBindings,
  workgroups: () => [1],
})

/** grad_norm_finish with lr_factors [segments]: a segment with factor 0 counts no step, whether
 * active or not. */
export const grad_norm_finish_rates = defineKernel({
  name: 'grad_norm_finish_rates',
  wgsl: finish + BLOCKS_CONSTANT + CONTROL_INDICES + reduce + OWN_RATES,
  params: finishParams,
  bindings: { ...finishBindings, lr_factors: 'read' },
  workgroups: () => [1],
})

const updateParams = {
  count: 'u32',
  lr: 'f32',
  beta1: 'f32',
  beta2: 'f32',
  one_minus_beta1: 'f32',
  one_minus_beta2: 'f32',
  eps: 'f32',
  weight_decay: 'f32',
  vector_weight_decay: 'f32',
} as const
const updateBindings = {
  gradients: 'read',
  control: 'read',
  chunk_segment: 'read u32',
  corrections: 'read',
  weights: 'read_write',
  m: 'read_write',
  v: 'read_write',
} as const

/** One AdamW step of weights[0…count), the trained prefix; decay is decoupled and gradients are
 * scaled by clip_coef.
 *
 * gradients, weights, m, v [≥ count], control, chunk_segment u32 [≥ count / 64], corrections
 * [segments, 2] → weights, m, v. Chunks marked VECTOR_CHUNK decay by vector_weight_decay.
 * Runs after grad_norm_finish; changes nothing when is_finite is 0. The caller keeps every segment
 * below `count` active: the correction of one that never was is 0, and the step would divide by it.
 * 1 - β is passed beside β because f32 loses digits in 1 - 0.999.
 *
 * Source: Loshchilov & Hutter 2019, arXiv 1711.05101 algorithm 2, with eps and weight decay placed
 * as in torch.optim.AdamW. */
export const adamw_update = defineKernel({
  name: 'adamw_update',
  wgsl: update + vectorBit + CONTROL_INDICES + ONE_RATE,
  params: updateParams,
  bindings: updateBindings,
  workgroups: ({ count }) => foldGrid(Math.ceil(count / 1024)),
  cost: ({ count }) => ({ flops: 15 * count, bytes: 4 * 7 * count }),
})

/** adamw_update with lr_factors [segments] (≥ 0): the rate of a segment, in the step and in the
 * decay, is lr times its factor. Weights and moments of a segment with factor 0 stay as they are;
 * the caller keeps its gradients out of the norm. */
export const adamw_update_rates = defineKernel({
  name: 'adamw_update_rates',
  wgsl: update + vectorBit + CONTROL_INDICES + OWN_RATES,
  params: updateParams,
  bindings: { ...updateBindings, lr_factors: 'read' },
  workgroups: ({ count }) => foldGrid(Math.ceil(count / 1024)),
  cost: ({ count }) => ({ flops: 15 * count, bytes: 4 * 7 * count }),
})
