import { defineKernel, foldGrid } from '../device/kernel.ts'
import weight_bf16 from '../wgsl/weight_bf16.wgsl?raw'
import weight_f32 from '../wgsl/weight_f32.wgsl?raw'
import backward from './embedding_backward.wgsl?raw'
import backward_narrow from './embedding_backward_narrow.wgsl?raw'
import forward from './embedding_forward.wgsl?raw'
import range from './embedding_range.wgsl?raw'

/** out[t, :] = weight[input_ids[t], :], for input_ids [tokens], weight [V, C], out [tokens, C]. Ids must be below V. */
export const embedding_forward = defineKernel({
  name: 'embedding_forward',
  wgsl: forward,
  params: { tokens: 'u32', hidden_size: 'u32' },
  bindings: { input_ids: 'read', weight: 'read', out: 'read_write' },
  workgroups: ({ tokens, hidden_size }) => foldGrid(Math.ceil((tokens * hidden_size) / 64)),
  cost: ({ tokens, hidden_size }) => ({ flops: 0, bytes: 4 * tokens * (1 + 2 * hidden_size) }),
})

/**
 * embedding_forward for one range of the vocabulary, weight [rows, C] from token first_id on: writes the rows of out whose token
 * lies in it and leaves the others. Call it for every range.
 */
export const embedding_range = defineKernel({
  name: 'embedding_range',
  wgsl: range + weight_f32,
  params: { tokens: 'u32', hidden_size: 'u32', first_id: 'u32', rows: 'u32' },
  bindings: { input_ids: 'read', weight: 'read', out: 'read_write' },
  workgroups: ({ tokens, hidden_size }) => foldGrid(Math.ceil((tokens * hidden_size) / 64)),
  cost: ({ tokens, hidden_size }) => ({ flops: 0, bytes: 4 * tokens * (1 + 2 * hidden_size) }),
})

/** The same of bfloat16 numbers, two to a word, decoded exactly. */
export const embedding_range_bf16: typeof embedding_range = {
  ...embedding_range,
  name: 'embedding_range_bf16',
  wgsl: range + weight_bf16,
  cost: ({ tokens, hidden_size }) => ({ flops: 0, bytes: tokens * (4 + 6 * hidden_size) }),
}

/** padding_idx where every row learns. */
export const NO_PADDING = 2 ** 32 - 1

const backward_params = {
  tokens: 'u32',
  hidden_size: 'u32',
  vocab_size: 'u32',
  padding_idx: 'u32',
  first_id: 'u32',
} as const

/** One addition per value of d_out; of d_weight only the rows that occur, at most one per token. */
const backwardCost = (p: { tokens: number; hidden_size: number; vocab_size: number }) => ({
  flops: p.tokens * p.hidden_size,
  bytes:
    4 * (p.tokens * (1 + p.hidden_size) + 2 * Math.min(p.tokens, p.vocab_size) * p.hidden_size),
})

/**
 * d_weight[v, :] += Σ_{t: input_ids[t] = v} d_out[t, :] for v ≠ padding_idx, d_out [tokens, C] and d_weight [V, C]
 * (torch.nn.Embedding; NO_PADDING = for every v). d_weight may be one range of the vocabulary, vocab_size rows from token
 * first_id on: tokens of other ranges add nothing.
 *
 * Adds, so that tied weights can gather both gradients. Sums in the order of t: the same bits every time.
 * Costs up to tokens² / 128 comparisons over all lanes, and nothing that grows with V.
 */
export const embedding_backward = defineKernel({
  name: 'embedding_backward',
  wgsl: backward,
  params: backward_params,
  bindings: { input_ids: 'read', d_out: 'read', d_weight: 'read_write' },
  workgroups: ({ tokens, hidden_size }) => foldGrid(tokens * Math.ceil(hidden_size / 256)),
  cost: backwardCost,
})

/** The same for small vocabularies: work grows with V, but no lane waits. hidden_size must be a multiple of 4. */
export const embedding_backward_narrow = defineKernel({
  name: 'embedding_backward_narrow',
  wgsl: backward_narrow,
  params: backward_params,
  bindings: { input_ids: 'read', d_out: 'read', d_weight: 'read_write' },
  workgroups: ({ hidden_size, vocab_size }) =>
    foldGrid(Math.ceil((vocab_size * hidden_size) / 4 / 8)),
  cost: backwardCost,
})

/** Largest vocabulary for which going through all tokens per id is cheaper than looking for the first of each id. */
const NARROW_VOCABULARY = 128

/** The quicker of the two backwards for a model's size. */
export function embeddingBackward(size: { vocab_size: number; hidden_size: number }) {
  const is_narrow = size.vocab_size <= NARROW_VOCABULARY && size.hidden_size % 4 === 0
  return is_narrow ? embedding_backward_narrow : embedding_backward
}
