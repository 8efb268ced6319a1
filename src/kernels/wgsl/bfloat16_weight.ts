// Makes of a kernel that reads a float32 weight one that reads bfloat16.
import weight_bf16 from './weight_bf16.wgsl?raw'
import weight_f32 from './weight_f32.wgsl?raw'

/** The same kernel for a weight of bfloat16 numbers, two to a word. The bits of the decoded
 * weight's. */
export const ofBfloat16 = <K extends { readonly name: string; readonly wgsl: string }>(
  kernel: K,
): K => ({
  ...kernel,
  name: `${kernel.name}_bf16`,
  wgsl: kernel.wgsl.replace(weight_f32, weight_bf16),
})
