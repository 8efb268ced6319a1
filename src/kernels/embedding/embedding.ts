// Declares the look-up of embeddings and its gradient.
import { defineKernel, foldGrid } from '../device/base/kernel.ts'
import type { Tensor } from '../device/base/tensor.ts'
import weight_bf16 from '../wgsl/weight_bf16.wgsl?raw'
import weight_f32 from '../wgsl/weight_f32.wgsl?raw'
import backward from './embedding_backward.wgsl?raw'
import backward_narrow from './embedding_backward_narrow.wgsl?raw'
import forward from './embedding_forward.wgsl?raw'

const forwardParams = { tokens: 'u32', hidden_size: 'u32', first_id: 'u32', ids: 'u32' } as const
const forwardBindings = { input_ids: 'read u32', weight: 'read Weight', out: 'read_write' } as const
const forwardGrid = ({ tokens, hidden_size }: { tokens: number; hidden_size: number }) =>
  foldGrid(Math.ceil((tokens * hidden_size) / 64))

/** out[t, :] = weight[input_ids[t] - first_id, :] where 0 ≤ input_ids[t] - first_id < ids; other
 * rows of `out` stay as they are. input_ids [tokens], weight [ids, C], out [tokens, C]. */
export const embedding_forward = defineKernel({
  name: 'embedding_forward',
  wgsl: forward + weight_f32,
  params: forwardParams,
  bindings: forwardBindings,
  workgroups: forwardGrid,
  cost: ({ tokens, hidden_size }) => ({ flops: 0, bytes: 4 * tokens * (1 + 2 * hidden_size) }),
})

/** The same for a weight of bfloat16. */
export const embedding_forward_bfloat16 = defineKernel({
  name: 'embedding_forward_bfloat16',
  wgsl: forward + weight_bf16,
  params: forwardParams,
  bindings: forwardBindings,
  workgroups: forwardGrid,
  cost: ({ tokens, hidden_size }) => ({ flops: 0, bytes: tokens * (4 + 6 * hidden_size) }),
})

/** The forward of a weight of this dtype. */
export const embeddingForward = ({ dtype }: Pick<Tensor, 'dtype'>) =>
  dtype === 'bfloat16' ? embedding_forward_bfloat16 : embedding_forward

/** padding_idx where every row learns. */
export const NO_PADDING = 2 ** 32 - 1

const backwardParams = {
  tokens: 'u32',
  hidden_size: 'u32',
  first_id: 'u32',
  ids: 'u32',
  padding_idx: 'u32',
} as const

/** One addition per value of d_out; of d_weight only the rows that occur, at most one per token. */
const backwardCost = (p: { tokens: number; hidden_size: number; ids: number }) => ({
  flops: p.tokens * p.hidden_size,
  bytes: 4 * (p.tokens * (1 + p.hidden_size) + 2 * Math.min(p.tokens, p.ids) * p.hidden_size),
})

/** d_weight[v - first_id, :] += Σ_{t: input_ids[t] = v} d_out[t, :] for v ≠ padding_idx from
 * first_id on, d_out [tokens, C] and d_weight [ids, C] (torch.nn.Embedding; NO_PADDING = for every
 * v).
 *
 * Adds, so that tied weights can gather both gradients. Sums in the order of t: the same bits every
 * time. Costs up to tokens² / 128 comparisons over all lanes, and nothing that grows with V. */
export const embedding_backward = defineKernel({
  name: 'embedding_backward',
  wgsl: backward,
  params: backwardParams,
  bindings: { input_ids: 'read u32', d_out: 'read', d_weight: 'read_write' },
  workgroups: ({ tokens, hidden_size }) => foldGrid(tokens * Math.ceil(hidden_size / 256)),
  cost: backwardCost,
})

/** The same for small vocabularies: work grows with V, but no lane waits. hidden_size must be a
 * multiple of 4. */
export const embedding_backward_narrow = defineKernel({
  name: 'embedding_backward_narrow',
  wgsl: backward_narrow,
  params: backwardParams,
  bindings: { input_ids: 'read u32', d_out: 'read vec4f', d_weight: 'read_write vec4f' },
  workgroups: ({ hidden_size, ids }) => foldGrid(Math.ceil((ids * hidden_size) / 4 / 8)),
  cost: backwardCost,
})

/** Largest vocabulary for which going through all tokens per id is cheaper than looking for the
 * first of each id. */
const NARROW_VOCABULARY = 128

/** The quicker of the two backwards for a model's size. */
export function embeddingBackward({
  vocab_size,
  hidden_size,
  narrowKernels = true,
}: {
  readonly vocab_size: number
  readonly hidden_size: number
  readonly narrowKernels?: boolean | undefined
}) {
  const isSmall = vocab_size <= NARROW_VOCABULARY && hidden_size % 4 === 0
  return narrowKernels && isSmall ? embedding_backward_narrow : embedding_backward
}
