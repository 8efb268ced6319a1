// Declares the kernel that puts logits of a range of the vocabulary into their columns.
import { defineKernel, foldGrid } from '../device/base/kernel.ts'
import source from './place_logits.wgsl?raw'

/** Logits of one range of the vocabulary, part [rows, cols], into columns first_id … first_id +
 * cols - 1 of out [rows, V]. A product writes its rows one behind the other; sampling and top-k
 * read a whole vocabulary a row. */
export const place_logits = defineKernel({
  name: 'place_logits',
  wgsl: source,
  params: { rows: 'u32', cols: 'u32', vocab_size: 'u32', first_id: 'u32' },
  bindings: { part: 'read', out: 'read_write' },
  workgroups: ({ rows, cols }) => foldGrid(Math.ceil((rows * cols) / 64)),
  cost: ({ rows, cols }) => ({ flops: 0, bytes: 8 * rows * cols }),
})
