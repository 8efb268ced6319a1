// The entropy term and the cross-entropy in float64.

type Numbers = ArrayLike<number>

/** Σ loss_weight · entropy, and the gradient [tokens] of -entropy_coeff times it. */
export function entropyLossRef(
  entropy_coeff: number,
  entropy: Numbers,
  loss_weights: Numbers,
): { entropy: number; d_entropy: Float64Array } {
  const d_entropy = Float64Array.from(loss_weights, (w) => (w === 0 ? 0 : -entropy_coeff * w))
  let mean = 0
  for (let i = 0; i < loss_weights.length; i++)
    if (loss_weights[i] !== 0) mean += loss_weights[i] * entropy[i]
  return { entropy: mean, d_entropy }
}

/** Mean cross-entropy and its gradient [tokens]. */
export function sftLossRef(
  inv_token_count: number,
  log_probs: Numbers,
  response_mask: Numbers,
): { d_log_probs: Float64Array; loss: number } {
  const d_log_probs = Float64Array.from(response_mask, (m) => -m * inv_token_count)
  const loss = d_log_probs.reduce((sum, d, i) => sum + d * log_probs[i], 0)
  return { d_log_probs, loss }
}
