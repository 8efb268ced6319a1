// Declares the kernel that finds the likeliest tokens of each row.
import { defineKernel, foldGrid } from '../device/base/kernel.ts'
import source from './top_k.wgsl?raw'

/** Entries per row. */
export const TOP_K = 5

/** The TOP_K likeliest entries of softmax(logits) of each row, likeliest first, ties to the smaller
 * id.
 *
 * logits [rows, V] → ids u32 [rows, K], probs [rows, K]. V is at least K and at most 2^32 − 1;
 * logits are finite. A row's numbers do not depend on the other rows. */
export const top_k = defineKernel({
  name: 'top_k',
  wgsl: source,
  params: { rows: 'u32', vocab_size: 'u32' },
  bindings: { logits: 'read', ids: 'read_write u32', probs: 'read_write' },
  workgroups: ({ rows }) => foldGrid(rows),
  cost: ({ rows, vocab_size }) => ({
    flops: 3 * rows * vocab_size,
    bytes: 8 * rows * (vocab_size + TOP_K),
  }),
})
