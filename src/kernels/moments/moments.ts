// Declares the kernel of means and standard deviations over what a mask counts.
import { defineKernel } from '../device/base/kernel.ts'
import reduce from '../wgsl/workgroup_reduce.wgsl?raw'
import source from './moments.wgsl?raw'

/** In the second column of `sets`: nothing is subtracted. */
export const NOTHING = 0xffffffff

/** Mean and standard deviation of sets of numbers over what a mask counts, in a fixed order and in
 * two passes: Σ x / n, then √(Σ (x − mean)² / n), the population's.
 *
 * values [rows, count], mask [count], sets u32 [sets, 2] → moments [sets, 2]: (mean, standard
 * deviation) of set s, whose numbers are values[sets[s, 0]] − values[sets[s, 1]], or those of the
 * first alone where the second is NOTHING. Values where the mask is 0 are not looked at, so a NaN
 * there is harmless; any other value of the mask counts once. A mask of zeros gives zeros. Sets are
 * at most 65,535, count at most 2^24. */
export const moments = defineKernel({
  name: 'moments',
  wgsl: source + reduce,
  params: { count: 'u32', sets: 'u32' },
  bindings: { values: 'read', mask: 'read', sets: 'read vec2u', moments: 'read_write vec2f' },
  workgroups: ({ sets }) => [sets],
  cost: ({ count, sets }) => ({ flops: 4 * sets * count, bytes: 4 * (2 * sets * count + count) }),
})
