// Computes the vocabulary head in f64, one token at a time.
import { scoredEntries } from './scored.ref.ts'
import type { ScoredTokens } from './scored.ts'

/** Sizes and temperature, named as in the kernels. */
export interface HeadSizes {
  readonly hidden_size: number
  readonly vocab_size: number
  readonly inv_temperature: number
}

type Numbers = ArrayLike<number>

/** Scaled logits of one state, and what follows from them. */
function stateLogits(s: HeadSizes, hidden: Numbers, weight: Numbers, state: number) {
  const z = new Float64Array(s.vocab_size)
  for (let j = 0; j < s.vocab_size; j++) {
    for (let c = 0; c < s.hidden_size; c++)
      z[j] += hidden[state * s.hidden_size + c] * weight[j * s.hidden_size + c]
    z[j] *= s.inv_temperature
  }
  const top = z.reduce((a, b) => Math.max(a, b))
  const lse = top + Math.log(z.reduce((sum, x) => sum + Math.exp(x - top), 0))
  const log_p = z.map((x) => x - lse)
  const entropy = -log_p.reduce((sum, l) => sum + Math.exp(l) * l, 0)
  return { lse, log_p, entropy }
}

/** log_probs, entropy, lse and sum_pi_squared [B, R] of the scaled logits of hidden [states, C]; 0
 * where isScored is 0. */
export function vocabHeadForwardRef(
  s: HeadSizes,
  hidden: Numbers,
  weight: Numbers,
  list: ScoredTokens,
): {
  log_probs: Float64Array
  entropy: Float64Array
  lse: Float64Array
  sum_pi_squared: Float64Array
} {
  const out = {
    log_probs: new Float64Array(list.tokens),
    entropy: new Float64Array(list.tokens),
    lse: new Float64Array(list.tokens),
    sum_pi_squared: new Float64Array(list.tokens),
  }
  for (const { state, slot, id } of scoredEntries(list)) {
    const { lse, log_p, entropy } = stateLogits(s, hidden, weight, state)
    out.log_probs[slot] = log_p[id]
    out.entropy[slot] = entropy
    out.lse[slot] = lse
    out.sum_pi_squared[slot] = log_p.reduce((sum, l) => sum + Math.exp(2 * l), 0)
  }
  return out
}

/** d_hidden [states, C] and d_weight [V, C] from d_log_probs and d_entropy [B, R]; a token without
 * gradient is not read. */
export function vocabHeadBackwardRef(
  s: HeadSizes,
  hidden: Numbers,
  weight: Numbers,
  list: ScoredTokens,
  d_log_probs: Numbers,
  d_entropy: Numbers,
): { d_hidden: Float64Array; d_weight: Float64Array } {
  const C = s.hidden_size
  const d_hidden = new Float64Array(hidden.length)
  const d_weight = new Float64Array(s.vocab_size * C)
  for (const { state, slot, id } of scoredEntries(list)) {
    if (d_log_probs[slot] === 0 && d_entropy[slot] === 0) continue
    const { log_p, entropy } = stateLogits(s, hidden, weight, state)
    for (let j = 0; j < s.vocab_size; j++) {
      const p = Math.exp(log_p[j])
      const isLabel = j === id ? 1 : 0
      const dZ =
        (d_log_probs[slot] * (isLabel - p) - d_entropy[slot] * p * (log_p[j] + entropy)) *
        s.inv_temperature
      for (let c = 0; c < C; c++) {
        d_hidden[state * C + c] += dZ * weight[j * C + c]
        d_weight[j * C + c] += dZ * hidden[state * C + c]
      }
    }
  }
  return { d_hidden, d_weight }
}
