// Computes the entropy term and the cross-entropy in float64.

type Numbers = ArrayLike<number>

/** Σ loss_weight · entropy, and the gradient [tokens] of -entropyCoeff times it. */
export function entropyLossRef(
  entropyCoeff: number,
  entropy: Numbers,
  lossWeights: Numbers,
): { entropy: number; d_entropy: Float64Array } {
  const d_entropy = Float64Array.from(lossWeights, (w) => (w === 0 ? 0 : -entropyCoeff * w))
  let mean = 0
  for (let i = 0; i < lossWeights.length; i++)
    if (lossWeights[i] !== 0) mean += lossWeights[i] * entropy[i]
  return { entropy: mean, d_entropy }
}

/** Mean cross-entropy and its gradient [tokens]. */
export function sftLossRef(
  invTokenCount: number,
  logProbs: Numbers,
  responseMask: Numbers,
): { d_log_probs: Float64Array; loss: number } {
  const d_log_probs = Float64Array.from(responseMask, (m) => -m * invTokenCount)
  const loss = d_log_probs.reduce((sum, d, i) => sum + d * logProbs[i], 0)
  return { d_log_probs, loss }
}
