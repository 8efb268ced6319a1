// Declares causal grouped-query attention, forward and backward, and chooses its kernels by size.
import { type AnyKernel, defineKernel, foldGrid, withElements } from '../device/base/kernel.ts'
import rope_head from '../rope/rope_head.wgsl?raw'
import rope_rotation from '../rope/rope_rotation.wgsl?raw'
import { withPart } from '../wgsl/compose.ts'
import backward_key_value from './attention_backward_key_value.wgsl?raw'
import backward_query from './attention_backward_query.wgsl?raw'
import decode from './attention_decode.wgsl?raw'
import forward from './attention_forward.wgsl?raw'
import narrow_backward_key_value from './attention_narrow_backward_key_value.wgsl?raw'
import narrow_forward from './attention_narrow_forward.wgsl?raw'
import narrow_step from './attention_narrow_step.wgsl?raw'
import query_tile from './attention_query_tile.wgsl?raw'
import { cacheWriteCost, decodeCost, stepCost } from './cache_cost.ts'
import cache_f32 from './cache_f32.wgsl?raw'
import cache_token from './cache_token.wgsl?raw'
import cache_write from './kv_cache_write.wgsl?raw'
import { type AttentionSize, isNarrow } from './narrow.ts'
import {
  inPairs,
  narrowElement,
  narrowQueryBackward,
  narrowQuerySource,
  narrowSource,
  narrowStepBindings,
  narrowStepSource,
} from './narrow_source.ts'
import { cacheInQuads, inQuads } from './quads.ts'

const params = {
  /** B. */
  rows: 'u32',
  /** The most columns any row may have: with `rows`, the size of the grid. */
  width: 'u32',
  num_attention_heads: 'u32',
  num_key_value_heads: 'u32',
  head_dim: 'u32',
  scale: 'f32',
} as const

/** Of both backward kernels. */
const backwardBindings = {
  qkv: 'read',
  attention_mask: 'read u32',
  cu_seqlens: 'read u32',
  out: 'read',
  lse: 'read',
  d_out: 'read',
  d_qkv: 'read_write',
} as const

/** Workgroups of a tiled attention kernel: tiles of 16 columns, blocks of 64 channels. */
const tiledGrid = (rows: number, heads: number, width: number, head_dim: number) =>
  foldGrid(rows * heads * Math.ceil(width / 16) * Math.ceil(head_dim / 64))

/** Causal grouped-query attention: out_i = Σ_{j ≤ i, attention_mask_j = 1} softmax_j(scale ·
 * q_i·k_j) v_j.
 *
 * qkv [M, (H + 2K)·D] (normed, rotated; q heads, then k heads, then v heads), attention_mask u32
 * [M], cu_seqlens u32 [B + 1] → out [M, H·D], lse [M, H] (log of the softmax's denominator, what
 * the backward needs). M is the tokens of one stream: row b owns tokens cu_seqlens[b] …
 * cu_seqlens[b + 1] − 1, at most `width` of them and perhaps none, and i, j are columns of one row.
 * Padded rows are cu_seqlens[b] = b · width. Tokens of no row reach no row and are not written.
 * Query head h reads key/value head floor(h / (H / K)). head_dim is at most 256. Masked columns may
 * lie anywhere in a row; a query at one writes 0 to both.
 * One kernel gives a row the same bits wherever it lies in the stream, beside any rows and at any
 * `width`.
 *
 * Source: Dao et al. 2022, algorithm 1 (online softmax), arXiv 2205.14135; Ainslie et al. 2023
 * (groups), arXiv 2305.13245; packed rows: Dao-AILab/flash-attention flash_attn_varlen_func. */
export const attention_forward = defineKernel({
  name: 'attention_forward',
  wgsl: withPart(forward, 'query_tile', query_tile),
  manyRegisters: true,
  params,
  bindings: {
    qkv: 'read',
    attention_mask: 'read u32',
    cu_seqlens: 'read u32',
    out: 'read_write',
    lse: 'read_write',
  },
  workgroups: ({ rows, width, num_attention_heads, head_dim }) =>
    tiledGrid(rows, num_attention_heads, width, head_dim),
})

/** The q part of d_qkv: d_q_i = scale · Σ_j p_ij (d_out_i·v_j − d_out_i·out_i) k_j. Tensors and
 * rows as in attention_forward, d_out [M, H·D], d_qkv [M, (H + 2K)·D]. Probabilities are recomputed
 * from `lse`; `out` and `lse` are attention_forward's. Overwrites; masked columns get 0, tokens of
 * no row are left.
 *
 * Source: Dao et al. 2022, algorithm 4, arXiv 2205.14135. */
export const attention_backward_query = defineKernel({
  name: 'attention_backward_query',
  wgsl: withPart(backward_query, 'query_tile', query_tile),
  manyRegisters: true,
  params,
  bindings: backwardBindings,
  writes: { d_qkv: 'queries' },
  workgroups: ({ rows, width, num_attention_heads, head_dim }) =>
    tiledGrid(rows, num_attention_heads, width, head_dim),
})

/** The k and v parts of d_qkv: d_v_j = Σ p_ij d_out_i and d_k_j = scale · Σ p_ij (d_out_i·v_j −
 * d_out_i·out_i) q_i, over columns i ≥ j of all query heads of the group, in a fixed order. Tensors
 * and rows as in attention_backward_query. Overwrites; masked columns get 0, tokens of no row are
 * left.
 *
 * Source: Dao et al. 2022, algorithm 4, arXiv 2205.14135. */
export const attention_backward_key_value = defineKernel({
  name: 'attention_backward_key_value',
  wgsl: backward_key_value,
  manyRegisters: true,
  params,
  bindings: backwardBindings,
  writes: { d_qkv: 'keys and values' },
  workgroups: ({ rows, width, num_key_value_heads, head_dim }) =>
    tiledGrid(rows, num_key_value_heads, width, head_dim),
})

/** Copies the k and v parts of `columns` tokens per row into the cache: row b's from token
 * first_token + b · stride on.
 *
 * qkv [B, columns, (H + 2K)·D] → cache [tokens, 2·K·D] (k heads, then v heads). `first_token` may
 * be live. */
export const kv_cache_write = defineKernel({
  name: 'kv_cache_write',
  wgsl: cache_write + cache_f32,
  params: {
    rows: 'u32',
    columns: 'u32',
    first_token: 'u32',
    stride: 'u32',
    num_attention_heads: 'u32',
    num_key_value_heads: 'u32',
    head_dim: 'u32',
  },
  bindings: { qkv: 'read', cache: 'read_write Cached' },
  workgroups: ({ rows, columns, num_key_value_heads, head_dim }) =>
    foldGrid(Math.ceil((rows * columns * 2 * num_key_value_heads * head_dim) / 64)),
  cost: cacheWriteCost(4),
})

/** How a cache is laid out: B = rows, n of them to each prompt. */
export interface CacheSize {
  readonly rows: number
  /** Rows that share a prompt and lie side by side. */
  readonly n: number
  /** P */
  readonly prompt_length: number
  /** Columns kept of each row's response. */
  readonly response_columns: number
}

/** Tokens in a cache: P for each prompt, then `response_columns` for each row. */
export const cacheTokens = ({ rows, n, prompt_length, response_columns }: CacheSize): number =>
  (rows / n) * prompt_length + rows * response_columns

/** attention_forward for one new token per row, at `column`, with keys and values from the cache.
 *
 * qkv [B, (H + 2K)·D] (only q is read: the token's own k and v are in the cache already), cache
 * [cacheTokens, 2·K·D]: columns below P once per prompt, then P … P + response_columns − 1 of every
 * row; attention_mask [B, width] → out [B, H·D].
 * `column` may be live. A row whose `column` is masked gets 0 and costs next to nothing. Sums in
 * attention_forward's order. */
export const attention_decode = defineKernel({
  name: 'attention_decode',
  wgsl: decode + cache_token + cache_f32,
  params: {
    rows: 'u32',
    n: 'u32',
    prompt_length: 'u32',
    response_columns: 'u32',
    width: 'u32',
    column: 'u32',
    num_attention_heads: 'u32',
    num_key_value_heads: 'u32',
    head_dim: 'u32',
    scale: 'f32',
  },
  bindings: { qkv: 'read', cache: 'read Cached', attention_mask: 'read u32', out: 'read_write' },
  workgroups: ({ rows, num_attention_heads }) => foldGrid(rows * num_attention_heads),
  cost: decodeCost(4),
})

const decodeInQuads = cacheInQuads(attention_decode)
const step = defineKernel({
  name: 'attention_step',
  wgsl: narrow_step + cache_token + rope_head + rope_rotation + cache_f32,
  params: { ...attention_decode.params, has_qk_norm: 'u32', eps: 'f32' },
  bindings: {
    qkv: 'read',
    norm_weight: 'read',
    position_ids: 'read u32',
    inv_freq: 'read',
    attention_mask: 'read u32',
    cache: 'read_write',
    out: 'read_write',
  },
  workgroups: ({ rows, num_attention_heads }) =>
    foldGrid(Math.ceil((rows * num_attention_heads) / 64)),
  cost: stepCost(4),
})

/** qk_norm_rope_forward, kv_cache_write and attention_decode in one, for one new token per row at
 * `column`, with the same bits as the first and attention_forward: qkv [B, (H + 2K)·D] as projected
 * → cache (the token's k and v) and out [B, H·D]. Params and tensors as theirs. A row whose
 * `column` is masked gets 0 and writes no key. */
export type AttentionStep = typeof step

/** The kernels of one attention. */
export interface AttentionKernels {
  readonly forward: typeof attention_forward
  readonly backwardQuery: typeof attention_backward_query
  readonly backwardKeyValue: typeof attention_backward_key_value
  /** For a new token whose q and k are normed and turned, and in the cache. */
  readonly decode: typeof attention_decode
  /** For a new token as projected, where there is one: to be preferred. */
  readonly step?: AttentionStep
}

const tiled: AttentionKernels = {
  forward: attention_forward,
  backwardQuery: attention_backward_query,
  backwardKeyValue: attention_backward_key_value,
  decode: attention_decode,
}

const quads = new Map<number, AttentionKernels>()
const narrow = new Map<number, AttentionKernels>()

function tiledKernels(head_dim: number): AttentionKernels {
  if (head_dim % 4 !== 0) return tiled
  // 4 chunks at most, and heads of more than 64 channels are decoded by another kernel.
  const size = Math.min(5, Math.ceil(head_dim / 16))
  const known = quads.get(size)
  if (known) return known
  const chunks = Math.min(4, size)
  const made: AttentionKernels = {
    forward: inQuads(attention_forward, chunks),
    backwardQuery: inQuads(attention_backward_query, chunks),
    backwardKeyValue: inQuads(attention_backward_key_value, chunks),
    decode: decodeInQuads(head_dim),
  }
  quads.set(size, made)
  return made
}

/** Heads of the narrow key/value backward on a GPU: it holds four vectors of a head in registers
 * where the others hold two. */
const MAX_NARROW_KEY_VALUE_HEAD_DIM = 16

/** What a GPU runs in place of a narrow key/value backward that would not fit there. */
const tiledOnGpu = (head_dim: number): Pick<AnyKernel, 'onGpu'> =>
  head_dim > MAX_NARROW_KEY_VALUE_HEAD_DIM
    ? { onGpu: tiledKernels(head_dim).backwardKeyValue as unknown as AnyKernel }
    : {}

function narrowKernels(head_dim: number): AttentionKernels {
  const known = narrow.get(head_dim)
  if (known) return known
  const { wgsl, halves } = narrowQueryBackward(head_dim)
  const head = narrowElement(head_dim)
  const part = narrowElement(head_dim, halves)
  const gradients = (element: string) =>
    withElements(backwardBindings, { qkv: element, out: element, d_out: element, d_qkv: element })
  const perColumn = (p: Record<'rows' | 'width', number>, heads: number, halves = 1) =>
    foldGrid(halves * Math.ceil((p.rows * p.width * heads) / 64))
  const made: AttentionKernels = {
    forward: {
      ...attention_forward,
      name: `attention_forward_narrow_${head_dim}`,
      wgsl: narrowQuerySource(narrow_forward, head_dim),
      bindings: withElements(attention_forward.bindings, { qkv: head, out: head }),
      workgroups: (p) => perColumn(inPairs(p, head_dim), p.num_attention_heads),
    },
    backwardQuery: {
      ...attention_backward_query,
      name: `attention_backward_query_narrow_${head_dim}`,
      wgsl,
      bindings: gradients(part),
      workgroups: (p) => perColumn(p, p.num_attention_heads, halves),
    },
    backwardKeyValue: {
      ...attention_backward_key_value,
      name: `attention_backward_key_value_narrow_${head_dim}`,
      wgsl: narrowSource(narrow_backward_key_value, head_dim),
      bindings: gradients(head),
      workgroups: (p) => perColumn(p, p.num_key_value_heads),
      ...tiledOnGpu(head_dim),
    },
    decode: decodeInQuads(head_dim),
    step: {
      ...step,
      name: `attention_step_narrow_${head_dim}`,
      wgsl: narrowStepSource(step.wgsl, head_dim),
      bindings: narrowStepBindings(step.bindings, head_dim),
    },
  }
  narrow.set(head_dim, made)
  return made
}

/** The quickest kernels for rows of `width` columns (of the whole cache, for a rollout) and this
 * head size. Short rows of small heads (a multiple of 4) would leave the tiled kernels' tiles
 * mostly empty: they take the narrow ones, without barriers. Both have the same params and bindings
 * and agree to rounding. The new token's kernel, `step` or else `decode`, repeats the numbers of
 * the `forward` returned with it. */
export function attentionKernels(size: AttentionSize): AttentionKernels {
  const { head_dim } = size
  return isNarrow(size) ? narrowKernels(head_dim) : tiledKernels(head_dim)
}

/** Instances for the checks that every kernel passes. */
export const variants = [4, 16, 64].flatMap((head_dim) =>
  Object.values(attentionKernels({ width: 1, head_dim })),
)
