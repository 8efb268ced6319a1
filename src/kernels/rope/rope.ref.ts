// Computes rotary position embeddings and their gradients in float64.
export interface RopeShape {
  readonly tokens: number
  readonly num_attention_heads: number
  readonly num_key_value_heads: number
  readonly head_dim: number
  readonly has_qk_norm: number
  readonly eps: number
}

export interface RopeInputs {
  readonly qkv: ArrayLike<number>
  readonly norm_weight: ArrayLike<number>
  readonly position_ids: ArrayLike<number>
  readonly inv_freq: ArrayLike<number>
}

/** Calls `visit` for each head of each token: where it starts, and 0, 1 or 2 for q, k or v. */
function forEachHead(shape: RopeShape, visit: (base: number, kind: number, token: number) => void) {
  const { tokens, num_attention_heads: h, num_key_value_heads: k, head_dim } = shape
  for (let token = 0; token < tokens; token++)
    for (let head = 0; head < h + 2 * k; head++) {
      const kind = head < h ? 0 : head < h + k ? 1 : 2
      visit((token * (h + 2 * k) + head) * head_dim, kind, token)
    }
}

/** The angle is rounded to f32, as the kernel and Hugging Face do: at position 10,000 that moves it
 * by 5e-4. */
const angleOf = (position: number, inv_freq: number) =>
  Math.fround(Math.fround(position) * Math.fround(inv_freq))

/** 1 / sqrt(mean square + eps) of one head. */
function invRms(qkv: ArrayLike<number>, base: number, { head_dim, eps }: RopeShape): number {
  let sum = 0
  for (let d = 0; d < head_dim; d++) sum += qkv[base + d] ** 2
  return 1 / Math.sqrt(sum / head_dim + eps)
}

/** The normed and rotated qkv, [tokens, (H + 2K) D], in f64. */
export function qkNormRopeForwardRef(inputs: RopeInputs, shape: RopeShape): Float64Array {
  const { qkv, norm_weight, position_ids, inv_freq } = inputs
  const { head_dim, has_qk_norm } = shape
  const out = Float64Array.from(qkv)
  forEachHead(shape, (base, kind, token) => {
    if (kind === 2) return
    const inv = invRms(qkv, base, shape)
    const normed = (d: number) =>
      has_qk_norm ? qkv[base + d] * inv * norm_weight[kind * head_dim + d] : qkv[base + d]
    for (let i = 0; i < head_dim / 2; i++) {
      const j = i + head_dim / 2
      const angle = angleOf(position_ids[token], inv_freq[i])
      out[base + i] = normed(i) * Math.cos(angle) - normed(j) * Math.sin(angle)
      out[base + j] = normed(j) * Math.cos(angle) + normed(i) * Math.sin(angle)
    }
  })
  return out
}

/** d_qkv, shaped like qkv, and d_norm_partials [tokens, 2, D], in f64. */
export function qkNormRopeBackwardRef(
  inputs: RopeInputs,
  d_out: ArrayLike<number>,
  shape: RopeShape,
): { d_qkv: Float64Array; d_norm_partials: Float64Array } {
  const { qkv, norm_weight, position_ids, inv_freq } = inputs
  const { tokens, head_dim, has_qk_norm } = shape
  const d_qkv = Float64Array.from(d_out)
  const d_norm_partials = new Float64Array(tokens * 2 * head_dim)
  forEachHead(shape, (base, kind, token) => {
    if (kind === 2) return
    const g = new Float64Array(head_dim) // gradient before the rotation
    for (let i = 0; i < head_dim / 2; i++) {
      const j = i + head_dim / 2
      const angle = angleOf(position_ids[token], inv_freq[i])
      g[i] = d_out[base + i] * Math.cos(angle) + d_out[base + j] * Math.sin(angle)
      g[j] = d_out[base + j] * Math.cos(angle) - d_out[base + i] * Math.sin(angle)
    }
    d_qkv.set(g, base)
    if (!has_qk_norm) return
    const inv = invRms(qkv, base, shape)
    const h = g.map((x, d) => x * norm_weight[kind * head_dim + d])
    const sum = h.reduce((total, x, d) => total + x * qkv[base + d], 0)
    for (let d = 0; d < head_dim; d++) {
      d_qkv[base + d] = inv * h[d] - (qkv[base + d] * inv ** 3 * sum) / head_dim
      d_norm_partials[(token * 2 + kind) * head_dim + d] += g[d] * qkv[base + d] * inv
    }
  })
  return { d_qkv, d_norm_partials }
}
