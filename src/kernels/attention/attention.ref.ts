// Computes attention as the formulas say it, in f64: the reference that the shaders are tested
// against.

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

/** Of rows that are all `width` tokens long and lie one after another. */
export const paddedSeqlens = ({ rows, width }: Pick<AttentionSizes, 'rows' | 'width'>) =>
  Uint32Array.from({ length: rows + 1 }, (_, b) => b * width)

/** Where a token of the stream keeps its q, k and v of query head h. */
function offsets(s: AttentionSizes, token: number, h: number) {
  const { num_attention_heads: H, num_key_value_heads: K, head_dim: D } = s
  const first = token * (H + 2 * K) * D
  const kvHead = Math.floor(h / (H / K))
  return { q: first + h * D, k: first + (H + kvHead) * D, v: first + (H + K + kvHead) * D }
}

function dot(a: Numbers, aOffset: number, b: Numbers, bOffset: number, count: number): number {
  let sum = 0
  for (let d = 0; d < count; d++) sum += a[aOffset + d] * b[bOffset + d]
  return sum
}

/** Calls `visit` for every query that is not masked, with the tokens it attends and their
 * probabilities. */
function forEachQuery(
  qkv: Numbers,
  attentionMask: Numbers,
  s: AttentionSizes,
  cuSeqlens: Numbers,
  visit: (query: number, h: number, keys: number[], probs: number[], lse: number) => void,
): void {
  for (let b = 0; b < s.rows; b++)
    for (let query = cuSeqlens[b]; query < cuSeqlens[b + 1]; query++) {
      if (!attentionMask[query]) continue
      const keys: number[] = []
      for (let key = cuSeqlens[b]; key <= query; key++) if (attentionMask[key]) keys.push(key)
      for (let h = 0; h < s.num_attention_heads; h++) {
        const { q } = offsets(s, query, h)
        const scores = keys.map(
          (key) => s.scale * dot(qkv, q, qkv, offsets(s, key, h).k, s.head_dim),
        )
        const top = Math.max(...scores)
        const lse = top + Math.log(scores.reduce((sum, x) => sum + Math.exp(x - top), 0))
        const probs = scores.map((x) => Math.exp(x - lse))
        visit(query, h, keys, probs, lse)
      }
    }
}

/** out [M, H·D] and lse [M, H] of a stream of M tokens; zero at masked tokens and at tokens of no
 * row. Row b owns tokens cuSeqlens[b] … cuSeqlens[b + 1] − 1; rows of `width` columns each where
 * it is not given. */
export function attention_forward_ref(
  qkv: Numbers,
  attentionMask: Numbers,
  s: AttentionSizes,
  cuSeqlens: Numbers = paddedSeqlens(s),
) {
  const { num_attention_heads: H, head_dim: D } = s
  const tokens = attentionMask.length
  const out = new Float64Array(tokens * H * D)
  const lse = new Float64Array(tokens * H)
  forEachQuery(qkv, attentionMask, s, cuSeqlens, (query, h, keys, probs, queryLse) => {
    const at = query * H + h
    lse[at] = queryLse
    keys.forEach((key, n) => {
      const { v } = offsets(s, key, h)
      for (let d = 0; d < D; d++) out[at * D + d] += probs[n] * qkv[v + d]
    })
  })
  return { out, lse }
}

/** d_qkv [M, (H + 2K)·D] of Σ out · d_out: what the two backward kernels write together. Rows as in
 * the forward. */
export function attentionBackwardRef(
  qkv: Numbers,
  attentionMask: Numbers,
  d_out: Numbers,
  s: AttentionSizes,
  cuSeqlens: Numbers = paddedSeqlens(s),
): Float64Array {
  const { num_attention_heads: H, head_dim: D } = s
  const d_qkv = new Float64Array(qkv.length)
  forEachQuery(qkv, attentionMask, s, cuSeqlens, (query, h, keys, probs) => {
    const { q } = offsets(s, query, h)
    const g = (query * H + h) * D
    const d_probs = keys.map((key) => dot(d_out, g, qkv, offsets(s, key, h).v, D))
    const delta = d_probs.reduce((sum, x, n) => sum + x * probs[n], 0)
    keys.forEach((key, n) => {
      const { k, v } = offsets(s, key, h)
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
