import { defineKernel, foldGrid } from '../gpu.ts'
import backward from './embedding_backward.wgsl?raw'
import forward from './embedding_forward.wgsl?raw'

/** out[t, :] = weight[input_ids[t], :], for input_ids [tokens], weight [V, C], out [tokens, C]. Ids must be below V. */
export const embedding_forward = defineKernel({
  name: 'embedding_forward',
  wgsl: forward,
  params: { tokens: 'u32', hidden_size: 'u32' },
  bindings: { input_ids: 'read', weight: 'read', out: 'read_write' },
  workgroups: ({ tokens, hidden_size }) => foldGrid(Math.ceil((tokens * hidden_size) / 64)),
})

/**
 * d_weight[v, :] += Σ_{t: input_ids[t] = v} d_out[t, :], for d_out [tokens, C] and d_weight [V, C].
 *
 * Adds, so that tied weights can gather both gradients. Sums in the order of t: the same bits every time.
 * Costs up to tokens² / 128 comparisons over all lanes, and nothing that grows with V.
 */
export const embedding_backward = defineKernel({
  name: 'embedding_backward',
  wgsl: backward,
  params: { tokens: 'u32', hidden_size: 'u32' },
  bindings: { input_ids: 'read', d_out: 'read', d_weight: 'read_write' },
  workgroups: ({ tokens, hidden_size }) => foldGrid(tokens * Math.ceil(hidden_size / 256)),
})
