// Names a number that is not finite, so that a step that was left out can say what broke it.
import { defineKernel } from '../device/base/kernel.ts'
import { CONTROL } from '../optimizer/optimizer.ts'
import source from './find_nonfinite.wgsl?raw'

const NONE = 0xffffffff

/** Index that a slot of find_nonfinite_gradient stands for; undefined where every number was
 * finite. */
export const lastNonfinite = (slot: number): number | undefined =>
  slot === 0 ? undefined : slot - 1

/** Index that a slot of find_nonfinite_token stands for; undefined where every number was
 * finite. */
export const firstNonfinite = (slot: number): number | undefined =>
  slot === 0 ? undefined : NONE - slot

const params = { count: 'u32', first: 'u32', slot: 'u32' } as const
/** Few lanes for few numbers: most runs never find any. */
const workgroups = ({ count }: { count: number }): [number] => [
  Math.min(64, Math.max(1, Math.ceil(count / 64))),
]

/** found[slot] ← the last i with gradients[i] Inf or NaN (as lastNonfinite reads it), in a step
 * that grad_norm_finish left out. Parameters lie in the order of the forward pass and a backward
 * pass goes the other way, so the last is nearest to the cause. Looks at nothing in any other step.
 *
 * values = gradients [≥ count], marks = control [CONTROL.length] → found u32 [≥ slot + 1], whose
 * slots keep the last index of all calls since they were cleared. A norm that overflows from finite
 * gradients leaves the slot as it is. `first` is added to every index. */
export const find_nonfinite_gradient = defineKernel({
  name: 'find_nonfinite_gradient',
  wgsl: `${source}
fn looks() -> bool { return marks[${CONTROL.indexOf('is_finite')}] == 0.0; }
fn counts(i: u32) -> bool { return true; }
fn place(index: u32) -> u32 { return index + 1u; }
`,
  params,
  bindings: { values: 'read u32', marks: 'read', found: 'read_write atomic<u32>' },
  workgroups,
})

/** found[slot] ← the first i with values[i] Inf or NaN (as firstNonfinite reads it), where the mask
 * is not 0.
 *
 * values [count], marks = mask [count] → found u32 [≥ slot + 1], as above. */
export const find_nonfinite_token = defineKernel({
  name: 'find_nonfinite_token',
  wgsl: `${source}
fn looks() -> bool { return true; }
fn counts(i: u32) -> bool { return marks[i] != 0.0; }
fn place(index: u32) -> u32 { return ${NONE}u - index; }
`,
  params,
  bindings: { values: 'read u32', marks: 'read', found: 'read_write atomic<u32>' },
  workgroups,
})
