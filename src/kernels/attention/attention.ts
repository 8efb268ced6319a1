import { defineKernel, foldGrid } from '../kernel.ts'
import backward_key_value from './attention_backward_key_value.wgsl?raw'
import backward_query from './attention_backward_query.wgsl?raw'
import decode from './attention_decode.wgsl?raw'
import forward from './attention_forward.wgsl?raw'
import narrow_backward_key_value from './attention_narrow_backward_key_value.wgsl?raw'
import narrow_backward_query from './attention_narrow_backward_query.wgsl?raw'
import narrow_decode from './attention_narrow_decode.wgsl?raw'
import narrow_forward from './attention_narrow_forward.wgsl?raw'
import cache_write from './kv_cache_write.wgsl?raw'

const params = {
  rows: 'u32',
  width: 'u32',
  num_attention_heads: 'u32',
  num_key_value_heads: 'u32',
  head_dim: 'u32',
  scale: 'f32',
} as const

/** Workgroups of a tiled attention kernel: tiles of 16 columns, blocks of 64 channels. */
const tiledGrid = (rows: number, heads: number, width: number, head_dim: number) =>
  foldGrid(rows * heads * Math.ceil(width / 16) * Math.ceil(head_dim / 64))

/**
 * Causal grouped-query attention: out_i = Σ_{j ≤ i, attention_mask_j = 1} softmax_j(scale · q_i·k_j) v_j.
 *
 * qkv [B, T, (H + 2K)·D] (normed, rotated; q heads, then k heads, then v heads), attention_mask [B, T]
 * → out [B, T, H·D], lse [B, T, H] (log of the softmax's denominator, what the backward needs).
 * Query head h reads key/value head floor(h / (H / K)). head_dim is at most 256.
 * Padding may lie anywhere; a query at a masked column writes 0 to both.
 *
 * Source: Dao et al. 2022, algorithm 1 (online softmax), arXiv 2205.14135; Ainslie et al. 2023 (groups), arXiv 2305.13245.
 */
export const attention_forward = defineKernel({
  name: 'attention_forward',
  wgsl: forward,
  params,
  bindings: { qkv: 'read', attention_mask: 'read', out: 'read_write', lse: 'read_write' },
  workgroups: ({ rows, width, num_attention_heads, head_dim }) =>
    tiledGrid(rows, num_attention_heads, width, head_dim),
})

/**
 * The q part of d_qkv: d_q_i = scale · Σ_j p_ij (d_out_i·v_j − d_out_i·out_i) k_j.
 * Probabilities are recomputed from `lse`; `out` and `lse` are attention_forward's. Overwrites; masked columns get 0.
 *
 * Source: Dao et al. 2022, algorithm 4, arXiv 2205.14135.
 */
export const attention_backward_query = defineKernel({
  name: 'attention_backward_query',
  wgsl: backward_query,
  params,
  bindings: {
    qkv: 'read',
    attention_mask: 'read',
    out: 'read',
    lse: 'read',
    d_out: 'read',
    d_qkv: 'read_write',
  },
  workgroups: ({ rows, width, num_attention_heads, head_dim }) =>
    tiledGrid(rows, num_attention_heads, width, head_dim),
})

/**
 * The k and v parts of d_qkv: d_v_j = Σ p_ij d_out_i and d_k_j = scale · Σ p_ij (d_out_i·v_j − d_out_i·out_i) q_i,
 * over columns i ≥ j of all query heads of the group, in a fixed order. Overwrites; masked columns get 0.
 *
 * Source: Dao et al. 2022, algorithm 4, arXiv 2205.14135.
 */
export const attention_backward_key_value = defineKernel({
  name: 'attention_backward_key_value',
  wgsl: backward_key_value,
  params,
  bindings: {
    qkv: 'read',
    attention_mask: 'read',
    out: 'read',
    lse: 'read',
    d_out: 'read',
    d_qkv: 'read_write',
  },
  workgroups: ({ rows, width, num_key_value_heads, head_dim }) =>
    tiledGrid(rows, num_key_value_heads, width, head_dim),
})

/**
 * Copies the k and v parts of `columns` tokens per row into the cache, from `first_column` on.
 *
 * qkv [B, columns, (H + 2K)·D] → cache [B, width, 2·K·D] (k heads, then v heads).
 * `first_column` may be live. Columns beyond `width` are dropped.
 */
export const kv_cache_write = defineKernel({
  name: 'kv_cache_write',
  wgsl: cache_write,
  params: {
    rows: 'u32',
    columns: 'u32',
    first_column: 'u32',
    width: 'u32',
    num_attention_heads: 'u32',
    num_key_value_heads: 'u32',
    head_dim: 'u32',
  },
  bindings: { qkv: 'read', cache: 'read_write' },
  workgroups: ({ rows, columns, num_key_value_heads, head_dim }) =>
    foldGrid(Math.ceil((rows * columns * 2 * num_key_value_heads * head_dim) / 64)),
})

/**
 * attention_forward for one new token per row, at `column`, with keys and values from the cache.
 *
 * qkv [B, (H + 2K)·D] (only q is read: the token's own k and v are in the cache already),
 * cache [B, width, 2·K·D], attention_mask [B, width] → out [B, H·D].
 * `column` may be live. A row whose `column` is masked gets 0. Sums in attention_forward's order.
 */
export const attention_decode = defineKernel({
  name: 'attention_decode',
  wgsl: decode,
  params: {
    rows: 'u32',
    width: 'u32',
    column: 'u32',
    num_attention_heads: 'u32',
    num_key_value_heads: 'u32',
    head_dim: 'u32',
    scale: 'f32',
  },
  bindings: { qkv: 'read', cache: 'read', attention_mask: 'read', out: 'read_write' },
  workgroups: ({ rows, num_attention_heads }) => foldGrid(rows * num_attention_heads),
})

/** The four kernels of one attention. */
export interface AttentionKernels {
  readonly forward: typeof attention_forward
  readonly backward_query: typeof attention_backward_query
  readonly backward_key_value: typeof attention_backward_key_value
  readonly decode: typeof attention_decode
}

const tiled: AttentionKernels = {
  forward: attention_forward,
  backward_query: attention_backward_query,
  backward_key_value: attention_backward_key_value,
  decode: attention_decode,
}

const MAX_NARROW_WIDTH = 128
const MAX_NARROW_HEAD_DIM = 64
/** Of the key/value backward, which holds four vectors of a head in registers where the others hold two. */
const MAX_NARROW_KEY_VALUE_HEAD_DIM = 32

/** The narrow source for one head size: a line with $ is written once per vector of four channels. */
function unrolled(wgsl: string, head_dim: number): string {
  const vectors = head_dim / 4
  const lines = wgsl.split('\n').flatMap((line) => {
    if (!line.includes('$') || line.startsWith('//')) return [line]
    return Array.from({ length: vectors }, (_, i) => line.replaceAll('$', String(i)))
  })
  return `${lines.join('\n')}\nconst VECTORS = ${vectors}u;\n`
}

const narrow = new Map<number, AttentionKernels>()

function narrowKernels(head_dim: number): AttentionKernels {
  const known = narrow.get(head_dim)
  if (known) return known
  const perColumn = (p: { rows: number; width: number }, heads: number) =>
    foldGrid(Math.ceil((p.rows * p.width * heads) / 64))
  const made: AttentionKernels = {
    forward: {
      ...attention_forward,
      name: `attention_forward_narrow_${head_dim}`,
      wgsl: unrolled(narrow_forward, head_dim),
      workgroups: (p) => perColumn(p, p.num_attention_heads),
    },
    backward_query: {
      ...attention_backward_query,
      name: `attention_backward_query_narrow_${head_dim}`,
      wgsl: unrolled(narrow_backward_query, head_dim),
      workgroups: (p) => perColumn(p, p.num_attention_heads),
    },
    backward_key_value: {
      ...attention_backward_key_value,
      name: `attention_backward_key_value_narrow_${head_dim}`,
      wgsl: unrolled(narrow_backward_key_value, head_dim),
      workgroups: (p) => perColumn(p, p.num_key_value_heads),
    },
    decode: {
      ...attention_decode,
      name: `attention_decode_narrow_${head_dim}`,
      wgsl: unrolled(narrow_decode, head_dim),
      workgroups: ({ rows, num_attention_heads }) =>
        foldGrid(Math.ceil((rows * num_attention_heads) / 64)),
    },
  }
  narrow.set(head_dim, made)
  return made
}

/**
 * The quickest kernels for rows of `width` columns (of the whole cache, for a rollout) and this head size.
 * Short rows of small heads (a multiple of 4) would leave the tiled kernels' tiles mostly empty: they take the narrow
 * ones, with one invocation per query or key and no barriers. Both have the same params and bindings and agree to
 * rounding; `decode` repeats the numbers of the `forward` that stands beside it.
 */
export function attentionKernels(size: { width: number; head_dim: number }): AttentionKernels {
  const { width, head_dim } = size
  if (width > MAX_NARROW_WIDTH || head_dim > MAX_NARROW_HEAD_DIM || head_dim % 4 !== 0) return tiled
  const made = narrowKernels(head_dim)
  if (head_dim <= MAX_NARROW_KEY_VALUE_HEAD_DIM) return made
  return { ...made, backward_key_value: attention_backward_key_value }
}

/** Instances for the checks that every kernel passes. */
export const variants = [4, 16, 64].flatMap((head_dim) =>
  Object.values(attentionKernels({ width: 1, head_dim })),
)
