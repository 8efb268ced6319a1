// Attention as the formulas say it, in f64: the truth that the shaders are held to.

/** Sizes of one attention call, with the kernels' names. */
export interface AttentionSizes {
  readonly rows: number
  readonly width: number
  readonly num_attention_heads: number
  readonly num_key_value_heads: number
  readonly head_dim: number
  readonly scale: number
}

type Numbers = ArrayLike<number>

/** Where row b's column t keeps its q, k and v of query head h. */
function offsets(s: AttentionSizes, b: number, t: number, h: number) {
  const { num_attention_heads: H, num_key_value_heads: K, head_dim: D } = s
  const token = (b * s.width + t) * (H + 2 * K) * D
  const kv_head = Math.floor(h / (H / K))
  return { q: token + h * D, k: token + (H + kv_head) * D, v: token + (H + K + kv_head) * D }
}

function dot(a: Numbers, a_offset: number, b: Numbers, b_offset: number, count: number): number {
  let sum = 0
  for (let d = 0; d < count; d++) sum += a[a_offset + d] * b[b_offset + d]
  return sum
}

/** Calls `visit` for every query that is a token, with the columns it attends and their probabilities. */
function forEachQuery(
  qkv: Numbers,
  attention_mask: Numbers,
  s: AttentionSizes,
  visit: (b: number, i: number, h: number, columns: number[], probs: number[], lse: number) => void,
): void {
  for (let b = 0; b < s.rows; b++)
    for (let i = 0; i < s.width; i++) {
      if (!attention_mask[b * s.width + i]) continue
      const columns = Array.from({ length: i + 1 }, (_, j) => j).filter(
        (j) => attention_mask[b * s.width + j],
      )
      for (let h = 0; h < s.num_attention_heads; h++) {
        const { q } = offsets(s, b, i, h)
        const scores = columns.map(
          (j) => s.scale * dot(qkv, q, qkv, offsets(s, b, j, h).k, s.head_dim),
        )
        const top = Math.max(...scores)
        const lse = top + Math.log(scores.reduce((sum, x) => sum + Math.exp(x - top), 0))
        const probs = scores.map((x) => Math.exp(x - lse))
        visit(b, i, h, columns, probs, lse)
      }
    }
}

/** out [B, T, H·D] and lse [B, T, H]; zero at masked columns. */
export function attention_forward_ref(qkv: Numbers, attention_mask: Numbers, s: AttentionSizes) {
  const { rows, width, num_attention_heads: H, head_dim: D } = s
  const out = new Float64Array(rows * width * H * D)
  const lse = new Float64Array(rows * width * H)
  forEachQuery(qkv, attention_mask, s, (b, i, h, columns, probs, query_lse) => {
    const at = (b * width + i) * H + h
    lse[at] = query_lse
    columns.forEach((j, n) => {
      const { v } = offsets(s, b, j, h)
      for (let d = 0; d < D; d++) out[at * D + d] += probs[n] * qkv[v + d]
    })
  })
  return { out, lse }
}

/** d_qkv [B, T, (H + 2K)·D] of Σ out · d_out: what the two backward kernels write together. */
export function attention_backward_ref(
  qkv: Numbers,
  attention_mask: Numbers,
  d_out: Numbers,
  s: AttentionSizes,
): Float64Array {
  const { num_attention_heads: H, head_dim: D } = s
  const d_qkv = new Float64Array(qkv.length)
  forEachQuery(qkv, attention_mask, s, (b, i, h, columns, probs) => {
    const { q } = offsets(s, b, i, h)
    const g = ((b * s.width + i) * H + h) * D
    const d_probs = columns.map((j) => dot(d_out, g, qkv, offsets(s, b, j, h).v, D))
    const delta = d_probs.reduce((sum, x, n) => sum + x * probs[n], 0)
    columns.forEach((j, n) => {
      const { k, v } = offsets(s, b, j, h)
      const d_score = s.scale * probs[n] * (d_probs[n] - delta)
      for (let d = 0; d < D; d++) {
        d_qkv[q + d] += d_score * qkv[k + d]
        d_qkv[k + d] += d_score * qkv[q + d]
        d_qkv[v + d] += probs[n] * d_out[g + d]
      }
    })
  })
  return d_qkv
}
