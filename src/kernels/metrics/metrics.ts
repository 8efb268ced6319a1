// Declares the kernel of masked sums, from which metrics are made.
import { defineKernel } from '../device/base/kernel.ts'
import reduce from '../wgsl/workgroup_reduce.wgsl?raw'
import masked from './masked_sum.wgsl?raw'

/** sums[s] = Σ_i values[s, i] · mask[i], in a fixed order.
 *
 * values [sets, count], mask [count] → sums [sets] (overwritten). Values where the mask is 0 are
 * not looked at, so a NaN there is harmless. Sets are at most 65,535. */
export const masked_sum = defineKernel({
  name: 'masked_sum',
  wgsl: masked + reduce,
  params: { count: 'u32', sets: 'u32' },
  bindings: { values: 'read', mask: 'read', sums: 'read_write' },
  workgroups: ({ sets }) => [sets],
  cost: ({ count, sets }) => ({
    flops: 2 * sets * count,
    bytes: 4 * (sets * count + count + sets),
  }),
})
