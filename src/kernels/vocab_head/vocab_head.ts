// Declares the vocabulary head: unembedding, log-sum-exp, log-prob and entropy in one pass, so that
// no [tokens, V] array exists. One set of kernels for the final policy and for every layer's own
// policy.
import { defineKernel, foldGrid, withElements } from '../device/base/kernel.ts'
import type { DType } from '../device/base/tensor.ts'
import { ofBfloat16 } from '../wgsl/bfloat16_weight.ts'
import { ofVectors } from '../wgsl/compose.ts'
import weight_f32 from '../wgsl/weight_f32.wgsl?raw'
import reduce from '../wgsl/workgroup_reduce.wgsl?raw'
import gradient from './head_gradient.wgsl?raw'
import head_hidden from './head_hidden.wgsl?raw'
import narrow_head from './head_narrow.wgsl?raw'
import head_policy from './head_policy.wgsl?raw'
import head_softmax from './head_softmax.wgsl?raw'
import head_tile from './head_tile.wgsl?raw'
import { type HeadShape, isNarrow, narrowSource } from './narrow.ts'
import backward_hidden from './vocab_head_backward_hidden.wgsl?raw'
import backward_weight from './vocab_head_backward_weight.wgsl?raw'
import finish from './vocab_head_finish.wgsl?raw'
import forward from './vocab_head_forward.wgsl?raw'
import narrow_backward_hidden from './vocab_head_narrow_backward_hidden.wgsl?raw'
import narrow_backward_weight from './vocab_head_narrow_backward_weight.wgsl?raw'
import narrow_forward from './vocab_head_narrow_forward.wgsl?raw'
import range_forward from './vocab_head_range.wgsl?raw'

/** Tile of head_tile.wgsl: 16 rows of one side against 64 of the other. */
const NARROW = 16
const WIDE = 64

const tile = head_tile + head_hidden + weight_f32

const params = {
  /** S: entries of the list, as many as the [B, R] arrays have places. */
  tokens: 'u32',
  /** C. */
  hidden_size: 'u32',
  /** V, or the rows of one range of the vocabulary. */
  vocab_size: 'u32',
  /** 1 / temperature: scales logits before everything, entropy included, as verl does. */
  inv_temperature: 'f32',
} as const

/** Of kernels that may see one range of the vocabulary. */
const rangeParams = {
  ...params,
  /** The token of the weight's first row: 0, or where the range begins. */
  first_id: 'u32',
} as const

/** What both backward kernels read. */
const backwardReads = {
  hidden: 'read',
  weight: 'read Weight',
  scored: 'read vec4u',
  lse: 'read',
  entropy: 'read',
  d_log_probs: 'read',
  d_entropy: 'read',
} as const

const tokenTiles = ({ tokens }: { tokens: number }): [number, number] =>
  foldGrid(Math.ceil(tokens / NARROW))

interface HeadSize {
  readonly tokens: number
  readonly hidden_size: number
  readonly vocab_size: number
}

/** `products` of [tokens, C] with [C, V] or as large; what else is read and written, in values. */
const headCost = (p: HeadSize, products: number, values: number) => {
  const weight = p.vocab_size * p.hidden_size
  return { flops: 2 * products * p.tokens * weight, bytes: 4 * (weight + values) }
}

/** z = hidden · weightᵀ · inv_temperature; lse = log Σ exp z; log_prob = z[y] - lse; entropy = lse
 * - Σ softmax(z) z; sum_pi_squared = Σ softmax(z)², the probability that two draws agree.
 *
 * hidden [states, C], weight [V, C], scored u32 [S, 4] → log_probs, entropy, lse [B, R], nats, and
 * sum_pi_squared [B, R], in (0, 1].
 * Entry (state, slot, id, isScored) of `scored` (ScoredTokens): the numbers of token `id` under
 * the policy of hidden row `state` go to place `slot` of [B, R], or 0 in all four where isScored
 * is 0: that entry's state and id are not used. The list holds every slot once. Any order is right;
 * with scored tokens first, those without do no work. A token's numbers are the same bits in any
 * list: they do not depend on its place or on its neighbours. Ids of scored tokens must be below V.
 *
 * Source: verl verl/utils/torch_functional.py logprobs_from_logits, entropy_from_logits,
 * calculate_sum_pi_squared_from_logits; running softmax as in FlashAttention, arXiv 2205.14135. */
export const vocab_head_forward = defineKernel({
  name: 'vocab_head_forward',
  wgsl: forward + head_softmax + head_policy + tile + reduce,
  manyRegisters: true,
  params,
  bindings: {
    hidden: 'read',
    weight: 'read Weight',
    scored: 'read vec4u',
    log_probs: 'read_write',
    entropy: 'read_write',
    lse: 'read_write',
    sum_pi_squared: 'read_write',
  },
  workgroups: tokenTiles,
  cost: (p) => headCost(p, 1, p.tokens * (p.hidden_size + 8)),
})

/** vocab_head_forward over one range of the vocabulary, for a head that lies in several: call it
 * for every range, first_id rising from 0, then vocab_head_finish. No binding holds more than one
 * range.
 *
 * hidden [states, C], weight [rows of the range, C], scored as in the forward; running [B·R, 5]:
 * the sums of the softmax so far, which need not be cleared. Agrees with the forward to rounding,
 * and not to the bit: sums have another order. */
export const vocab_head_range = defineKernel({
  name: 'vocab_head_range',
  wgsl: range_forward + head_softmax + tile + reduce,
  manyRegisters: true,
  params: rangeParams,
  bindings: { hidden: 'read', weight: 'read Weight', scored: 'read vec4u', running: 'read_write' },
  workgroups: tokenTiles,
  cost: (p) => headCost(p, 1, p.tokens * (p.hidden_size + 10)),
})

/** Numbers per token in `running`. */
export const RUNNING_SUMS = 5

/** scored, and running as vocab_head_range left it after the last range → the four outputs of
 * vocab_head_forward. */
export const vocab_head_finish = defineKernel({
  name: 'vocab_head_finish',
  wgsl: finish + head_policy,
  params: { tokens: 'u32' },
  bindings: {
    scored: 'read vec4u',
    running: 'read',
    log_probs: 'read_write',
    entropy: 'read_write',
    lse: 'read_write',
    sum_pi_squared: 'read_write',
  },
  workgroups: ({ tokens }) => foldGrid(Math.ceil(tokens / NARROW_LANES)),
  cost: ({ tokens }) => ({ flops: 6 * tokens, bytes: 4 * 13 * tokens }),
})

/** d_hidden = inv_temperature · d_z · weight, where
 * d_z[j] = d_log_prob · (1[j = y] - p_j) - d_entropy · p_j (log p_j + H) and p = softmax(z).
 *
 * hidden, weight, scored as in the forward; its lse and entropy [B, R]; d_log_probs, d_entropy [B,
 * R] → d_hidden [states, C]. `weight` may be one range of the vocabulary, whose first row is token
 * first_id's; call it for every range, first_id rising from 0. The range at 0 overwrites, later
 * ones add. Touches rows of scored tokens, each of them one token's alone, and leaves the others
 * (and perhaps those of scored tokens with both d_log_probs and d_entropy 0) as they are: the
 * caller clears d_hidden first. */
export const vocab_head_backward_hidden = defineKernel({
  name: 'vocab_head_backward_hidden',
  wgsl: backward_hidden + tile + gradient + reduce,
  manyRegisters: true,
  params: rangeParams,
  bindings: { ...backwardReads, d_hidden: 'read_write' },
  workgroups: tokenTiles,
  cost: (p) => headCost(p, 2, p.tokens * (2 * p.hidden_size + 8)),
})

/** partials[s] = inv_temperature · d_zᵀ · hidden over the s-th contiguous part of the list, in its
 * order; d_z as in vocab_head_backward_hidden. d_weight is the sum of partials [splits, V, C] over
 * s. Tokens with isScored 0, or with d_log_probs and d_entropy 0, add nothing, whatever their
 * states hold.
 *
 * Writes all of partials, so it need not be cleared. `splits` from headSplits. For one range of the
 * vocabulary: the gradient of its rows. */
export const vocab_head_backward_weight = defineKernel({
  name: 'vocab_head_backward_weight',
  wgsl: backward_weight + tile + gradient + reduce,
  manyRegisters: true,
  params: { ...params, splits: 'u32', first_id: 'u32' },
  bindings: { ...backwardReads, partials: 'read_write' },
  workgroups: ({ vocab_size, splits }) => [Math.ceil(vocab_size / NARROW), splits],
  cost: (p) =>
    headCost(p, 2, p.tokens * (p.hidden_size + 8) + p.splits * p.vocab_size * p.hidden_size),
})

/** The kernels of one vocabulary head. */
export interface VocabHeadKernels {
  readonly forward: typeof vocab_head_forward
  /** With vocab_head_finish: the forward of a head in several ranges. */
  readonly range: typeof vocab_head_range
  readonly backwardHidden: typeof vocab_head_backward_hidden
  readonly backwardWeight: typeof vocab_head_backward_weight
}

const tiled: VocabHeadKernels = {
  forward: vocab_head_forward,
  range: vocab_head_range,
  backwardHidden: vocab_head_backward_hidden,
  backwardWeight: vocab_head_backward_weight,
}

const bfloat16: VocabHeadKernels = {
  forward: ofBfloat16(vocab_head_forward),
  range: ofBfloat16(vocab_head_range),
  backwardHidden: ofBfloat16(vocab_head_backward_hidden),
  backwardWeight: ofBfloat16(vocab_head_backward_weight),
}

/** Of the backwards, which hold two rows in registers where the forward holds one: more take
 * minutes to compile. */
const MAX_NARROW_BACKWARD_HIDDEN_SIZE = 64
/** Invocations per workgroup of a narrow kernel. */
const NARROW_LANES = 64

const narrow = new Map<number, VocabHeadKernels>()

function narrowKernels(hidden_size: number): VocabHeadKernels {
  const known = narrow.get(hidden_size)
  if (known) return known
  // All of 64 channels' sums in one invocation would leave some GPUs 2 or 3 waves.
  const halves = hidden_size > 32 && hidden_size % 8 === 0 ? 2 : 1
  const gridOf = (count: number) => foldGrid(halves * Math.ceil(count / NARROW_LANES))
  const whole = ofVectors('vec4f', hidden_size)
  const row = ofVectors('vec4f', hidden_size, halves)
  const both: VocabHeadKernels = {
    ...tiled,
    forward: {
      ...vocab_head_forward,
      name: `vocab_head_forward_narrow_${hidden_size}`,
      wgsl: narrowSource(narrow_forward, hidden_size),
      bindings: withElements(vocab_head_forward.bindings, { hidden: whole, weight: whole }),
      workgroups: ({ tokens }) => foldGrid(Math.ceil(tokens / NARROW_LANES)),
    },
    backwardHidden: {
      ...vocab_head_backward_hidden,
      name: `vocab_head_backward_hidden_narrow_${hidden_size}`,
      wgsl: narrowSource(narrow_backward_hidden + narrow_head, hidden_size, halves),
      bindings: withElements(vocab_head_backward_hidden.bindings, {
        hidden: row,
        weight: row,
        d_hidden: row,
      }),
      workgroups: ({ tokens }) => gridOf(tokens),
    },
    backwardWeight: {
      ...vocab_head_backward_weight,
      name: `vocab_head_backward_weight_narrow_${hidden_size}`,
      wgsl: narrowSource(narrow_backward_weight + narrow_head, hidden_size, halves),
      bindings: withElements(vocab_head_backward_weight.bindings, {
        hidden: row,
        weight: row,
        partials: row,
      }),
      workgroups: ({ vocab_size, splits }) => gridOf(vocab_size * splits),
    },
  }
  const made =
    hidden_size <= MAX_NARROW_BACKWARD_HIDDEN_SIZE ? both : { ...tiled, forward: both.forward }
  narrow.set(hidden_size, made)
  return made
}

/** The quickest kernels for this vocabulary and hidden size. Where both are at most 128 and
 * hidden_size is a multiple of 4, the narrow ones (the backwards only up to hidden_size 64): one
 * invocation per token, or per vocabulary entry and part, without barriers, which cost software
 * adapters most of the tiled kernels' time. Both have the same params and bindings and agree to
 * rounding. The choice depends on nothing else but the head's type, so scores and updates of one
 * model come from the same kernel. */
export function vocabHeadKernels(shape: HeadShape, dtype: DType = 'f32'): VocabHeadKernels {
  if (dtype === 'bfloat16') return bfloat16
  return isNarrow(shape) ? narrowKernels(shape.hidden_size) : tiled
}

/** Instances for the checks that every kernel passes. */
export const variants = [...[4, 32, 64].map(narrowKernels), bfloat16].flatMap((kernels) =>
  Object.values(kernels),
)

/** Workgroups that keep a large GPU busy. */
const ENOUGH_WORKGROUPS = 512
const PARTIALS_BYTES = 8 * 1024 * 1024
/** Of the narrow kernel: more parts cost more to add up than they save. */
const MAX_NARROW_SPLITS = 128
const MIN_NARROW_TOKENS = 32

/** Parts into which the weight gradient's kernel cuts the tokens. Tiled: enough workgroups to fill
 * a GPU, no part shorter than one tile of 64 tokens. Narrow: parts of 32 tokens, at most 128 of
 * them. Partials take at most 8 MiB unless one part alone is larger. */
export function headSplits(tokens: number, shape: HeadShape): number {
  const { hidden_size, vocab_size } = shape
  const fitting = Math.floor(PARTIALS_BYTES / (4 * vocab_size * hidden_size))
  const { backwardWeight } = vocabHeadKernels(shape)
  const [wanted, least] =
    backwardWeight !== vocab_head_backward_weight
      ? [MAX_NARROW_SPLITS, MIN_NARROW_TOKENS]
      : [Math.ceil(ENOUGH_WORKGROUPS / Math.ceil(vocab_size / NARROW)), WIDE]
  return Math.max(1, Math.min(wanted, Math.ceil(tokens / least), fitting))
}
