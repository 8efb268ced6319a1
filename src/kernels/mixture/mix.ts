// Mixes two sets of weights.
import { defineKernel, foldGrid } from '../device/base/kernel.ts'
import wgsl from './mix.wgsl?raw'

/** to_values ← alpha · from_values + rest · to_values, [≥ count] each; `rest` is 1 - alpha. Both
 * products are exact where alpha is 0 or 1.
 *
 * Source: TRL 1.13 SyncRefModelCallback (ref_model_mixup_alpha). */
export const mix = defineKernel({
  name: 'mix',
  wgsl,
  params: { count: 'u32', alpha: 'f32', rest: 'f32' },
  bindings: { from_values: 'read', to_values: 'read_write' },
  workgroups: ({ count }) => foldGrid(Math.ceil(count / 256)),
  cost: ({ count }) => ({ flops: 3 * count, bytes: 12 * count }),
})
