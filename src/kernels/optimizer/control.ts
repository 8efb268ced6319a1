// Names the numbers that an optimizer step leaves. Apart from the kernels, because files that hold
// them are read without a GPU.

/** What grad_norm_finish leaves in `control`, in order: norm before clipping (raw: Inf or NaN when
 * not finite), factor of this step's gradients (0 when skipped), 1 or 0, and two counters since
 * control was cleared. */
export const CONTROL = [
  'grad_norm',
  'clip_coef',
  'is_finite',
  'skipped_steps',
  'optimizer_steps',
] as const

/** The same as constants of WGSL: where each lies in `control`. */
export const CONTROL_INDICES = CONTROL.map(
  (name, i) => `const ${name.toUpperCase()} = ${i}u;\n`,
).join('')

/** Marks a chunk_segment whose chunk holds vectors (norms, biases) rather than a matrix. */
export const VECTOR_CHUNK = 2 ** 31
