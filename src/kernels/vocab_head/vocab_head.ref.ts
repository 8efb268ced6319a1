// The vocabulary head in f64, one token at a time.

/** Sizes and temperature, named as in the kernels. */
export interface HeadSizes {
  readonly rows: number
  readonly width: number
  readonly first_column: number
  readonly response_length: number
  readonly hidden_size: number
  readonly vocab_size: number
  readonly inv_temperature: number
}

type Numbers = ArrayLike<number>

/** Scaled logits of response token i = b·R + t, and the hidden row that predicts it. */
function tokenLogits(s: HeadSizes, hidden: Numbers, weight: Numbers, i: number) {
  const row = Math.floor(i / s.response_length) * s.width + s.first_column + (i % s.response_length)
  const z = new Float64Array(s.vocab_size)
  for (let j = 0; j < s.vocab_size; j++) {
    for (let c = 0; c < s.hidden_size; c++)
      z[j] += hidden[row * s.hidden_size + c] * weight[j * s.hidden_size + c]
    z[j] *= s.inv_temperature
  }
  const top = z.reduce((a, b) => Math.max(a, b))
  const lse = top + Math.log(z.reduce((sum, x) => sum + Math.exp(x - top), 0))
  const log_p = z.map((x) => x - lse)
  const entropy = -log_p.reduce((sum, l) => sum + Math.exp(l) * l, 0)
  return { row, lse, log_p, entropy }
}

/** log_probs, entropy, lse and sum_pi_squared [B, R] of the scaled logits; 0 where response_mask is 0. */
export function vocab_head_forward_ref(
  s: HeadSizes,
  hidden: Numbers,
  weight: Numbers,
  response_ids: Numbers,
  response_mask: Numbers,
): {
  log_probs: Float64Array
  entropy: Float64Array
  lse: Float64Array
  sum_pi_squared: Float64Array
} {
  const tokens = s.rows * s.response_length
  const out = {
    log_probs: new Float64Array(tokens),
    entropy: new Float64Array(tokens),
    lse: new Float64Array(tokens),
    sum_pi_squared: new Float64Array(tokens),
  }
  for (let i = 0; i < tokens; i++) {
    if (response_mask[i] === 0) continue
    const { lse, log_p, entropy } = tokenLogits(s, hidden, weight, i)
    out.log_probs[i] = log_p[response_ids[i]]
    out.entropy[i] = entropy
    out.lse[i] = lse
    out.sum_pi_squared[i] = log_p.reduce((sum, l) => sum + Math.exp(2 * l), 0)
  }
  return out
}

/** d_hidden [B·T, C] and d_weight [V, C] from d_log_probs and d_entropy [B, R]. */
export function vocab_head_backward_ref(
  s: HeadSizes,
  hidden: Numbers,
  weight: Numbers,
  response_ids: Numbers,
  d_log_probs: Numbers,
  d_entropy: Numbers,
): { d_hidden: Float64Array; d_weight: Float64Array } {
  const C = s.hidden_size
  const d_hidden = new Float64Array(s.rows * s.width * C)
  const d_weight = new Float64Array(s.vocab_size * C)
  for (let i = 0; i < s.rows * s.response_length; i++) {
    const { row, log_p, entropy } = tokenLogits(s, hidden, weight, i)
    for (let j = 0; j < s.vocab_size; j++) {
      const p = Math.exp(log_p[j])
      const is_label = j === response_ids[i] ? 1 : 0
      const d_z =
        (d_log_probs[i] * (is_label - p) - d_entropy[i] * p * (log_p[j] + entropy)) *
        s.inv_temperature
      for (let c = 0; c < C; c++) {
        d_hidden[row * C + c] += d_z * weight[j * C + c]
        d_weight[j * C + c] += d_z * hidden[row * C + c]
      }
    }
  }
  return { d_hidden, d_weight }
}
