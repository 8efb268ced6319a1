// Counts what the kernels of a cache cost, by the bytes of one key or value in it: 4, or 2 for
// halves.
import type { Cost } from '../device/base/kernel.ts'

interface Heads {
  readonly num_attention_heads: number
  readonly num_key_value_heads: number
  readonly head_dim: number
}

/** Of kv_cache_write. */
export const cacheWriteCost =
  (bytes: number) =>
  (p: Heads & { readonly rows: number; readonly columns: number }): Cost => ({
    flops: 0,
    bytes: (4 + bytes) * p.rows * p.columns * 2 * p.num_key_value_heads * p.head_dim,
  })

interface Decode extends Heads {
  readonly rows: number
  readonly n: number
  readonly prompt_length: number
  readonly response_columns: number
  readonly column: number
}

/** Tokens of the cache below column `end`: a prompt's are there once for all of its n rows. */
const cachedTokens = ({ rows, n, prompt_length: P }: Decode, end: number): number =>
  (rows / n) * Math.min(P, end) + rows * Math.max(0, end - P)

/** Of attention_decode: q and out, keys and values of all columns, the mask. */
export const decodeCost =
  (bytes: number) =>
  (p: Decode): Cost => {
    const { rows, num_attention_heads: H, num_key_value_heads: K, head_dim: D } = p
    const columns = p.column + 1
    return {
      flops: 4 * D * rows * H * columns,
      bytes: 4 * (2 * rows * H * D + rows * columns) + bytes * cachedTokens(p, columns) * 2 * K * D,
    }
  }

/** Of attention_step: decodeCost and qk_norm_rope_forward's arithmetic. The token's own key and
 * value come with qkv, and go to the cache where it has a place for them. */
export const stepCost =
  (bytes: number) =>
  (p: Decode & { readonly has_qk_norm: number }): Cost => {
    const { rows, column, num_attention_heads: H, num_key_value_heads: K, head_dim: D } = p
    const isKept = column < p.prompt_length + p.response_columns
    const cached = cachedTokens(p, column) + (isKept ? rows : 0)
    const turned = rows * (H + K) * D
    const tables = D / 2 + 2 * D * p.has_qk_norm
    return {
      flops: decodeCost(bytes)(p).flops + turned * (3 + 4 * p.has_qk_norm),
      bytes:
        4 * (rows * (2 * H + 2 * K) * D + rows * (column + 2) + tables) +
        bytes * cached * 2 * K * D,
    }
  }
