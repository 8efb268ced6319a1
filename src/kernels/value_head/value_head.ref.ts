// Computes the value head in f64.
import { scoredEntries } from '../vocab_head/scored.ref.ts'
import type { ScoredTokens } from '../vocab_head/scored.ts'

type Numbers = ArrayLike<number>

/** values [B, R] of hidden [states, C] with weight [C]; 0 where isScored is 0. */
export function valueHeadForwardRef(
  hidden: Numbers,
  weight: Numbers,
  bias: number,
  list: ScoredTokens,
): Float64Array {
  const C = weight.length
  const values = new Float64Array(list.tokens)
  for (const { state, slot } of scoredEntries(list)) {
    values[slot] = bias
    for (let c = 0; c < C; c++) values[slot] += hidden[state * C + c] * weight[c]
  }
  return values
}

/** d_hidden [states, C], d_weight [C] and d_bias from d_values [B, R]; a token with d_values 0 is
 * not read. */
export function valueHeadBackwardRef(
  hidden: Numbers,
  weight: Numbers,
  list: ScoredTokens,
  d_values: Numbers,
): { d_hidden: Float64Array; d_weight: Float64Array; d_bias: number } {
  const C = weight.length
  const d_hidden = new Float64Array(hidden.length)
  const d_weight = new Float64Array(C)
  let d_bias = 0
  for (const { state, slot } of scoredEntries(list)) {
    const d = d_values[slot]
    if (d === 0) continue
    d_bias += d
    for (let c = 0; c < C; c++) {
      d_hidden[state * C + c] = d * weight[c]
      d_weight[c] += d * hidden[state * C + c]
    }
  }
  return { d_hidden, d_weight, d_bias }
}
