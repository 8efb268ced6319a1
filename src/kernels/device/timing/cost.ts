// Counts what one call of a kernel must do at the least, in operations and bytes.
import type { AnyKernel, Cost } from '../base/kernel.ts'

type Params = Readonly<Record<string, number>>

/** Causal pairs of a query and a key, over all rows and query heads. */
const pairs = ({ rows, width, num_attention_heads }: Params) =>
  (rows * num_attention_heads * width * (width + 1)) / 2

/** Values of qkv, of one vector per query head, and of lse, with the mask, over all tokens. */
function attentionValues(p: Params) {
  const tokens = p.rows * p.width
  const { num_attention_heads: H, num_key_value_heads: K, head_dim: D } = p
  return {
    qkv: tokens * (H + 2 * K) * D,
    heads: tokens * H * D,
    groups: tokens * K * D,
    lse: tokens * H,
    mask: tokens,
  }
}

/** Kernels that come in many variants of one family, by the beginning of their name; the longest
 * that fits counts. */
const FAMILIES: readonly [prefix: string, cost: (params: Params) => Cost][] = [
  [
    'matmul_nt_add',
    ({ m, n, k, addend_stride }) => ({
      flops: 2 * m * n * k + m * n,
      bytes: 4 * (m * k + k * n + m * n + (addend_stride > 0 ? m * n : n)),
    }),
  ],
  [
    'matmul',
    ({ m, n, k, accumulate = 0 }) => ({
      flops: 2 * m * n * k,
      bytes: 4 * (m * k + k * n + (1 + accumulate) * m * n),
    }),
  ],
  [
    'attention_forward',
    (p) => {
      const { qkv, heads, lse, mask } = attentionValues(p)
      return { flops: 4 * p.head_dim * pairs(p), bytes: 4 * (qkv + heads + lse + mask) }
    },
  ],
  [
    'attention_backward_query',
    (p) => {
      const { qkv, heads, lse, mask } = attentionValues(p)
      return { flops: 6 * p.head_dim * pairs(p), bytes: 4 * (qkv + 3 * heads + lse + mask) }
    },
  ],
  [
    'attention_backward_key_value',
    (p) => {
      const { qkv, heads, groups, lse, mask } = attentionValues(p)
      return {
        flops: 8 * p.head_dim * pairs(p),
        bytes: 4 * (qkv + 2 * heads + 2 * groups + lse + mask),
      }
    },
  ],
]

/** What one call of a kernel costs: its own word, else its family's; undefined when neither
 * says. */
export function costOf(kernel: Pick<AnyKernel, 'name' | 'cost'>, params: Params): Cost | undefined {
  const cost = kernel.cost ?? FAMILIES.find(([prefix]) => kernel.name.startsWith(prefix))?.[1]
  const { flops, bytes } = cost?.(params) ?? { flops: Number.NaN, bytes: Number.NaN }
  return Number.isFinite(flops) && Number.isFinite(bytes) ? { flops, bytes } : undefined
}
