// Converts float32 to bfloat16 and back, for what is kept in half the memory. The references are
// encodeBfloat16 and decodeBfloat16.
import { defineKernel, foldGrid } from '../device/base/kernel.ts'
import from from './from_bfloat16.wgsl?raw'
import to from './to_bfloat16.wgsl?raw'

const conversion = {
  /** Pairs of values. */
  params: { words: 'u32' },
  workgroups: ({ words }: { words: number }) => foldGrid(Math.ceil(words / 64)),
  cost: ({ words }: { words: number }) => ({ flops: 0, bytes: 12 * words }),
} as const

/** `out` [2 · words] bfloat16 = `x` [2 · words] f32, each rounded to the nearest, ties to even; NaN
 * stays NaN. */
export const to_bfloat16 = defineKernel({
  ...conversion,
  name: 'to_bfloat16',
  wgsl: to,
  // vec2u: the bits of two float32
  bindings: { x: 'read vec2u', out: 'read_write u32' },
})

/** `out` [2 · words] f32 = `x` [2 · words] bfloat16, exactly. */
export const from_bfloat16 = defineKernel({
  ...conversion,
  name: 'from_bfloat16',
  wgsl: from,
  bindings: { x: 'read u32', out: 'read_write vec2u' },
})
