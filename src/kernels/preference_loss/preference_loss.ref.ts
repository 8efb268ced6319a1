/** Computes the kernel bradley_terry_loss in f64: scores [2 · pairs], all chosen and then the
 * rejected, to d_scores [2 · pairs] and means over pairs. invPairs is 1 / pairs unless given. */
export function bradleyTerryRef(
  scores: ArrayLike<number>,
  invPairs = 2 / scores.length,
): { loss: number; accuracy: number; d_scores: Float64Array } {
  const pairs = scores.length / 2
  const d_scores = new Float64Array(scores.length)
  let loss = 0
  let accuracy = 0
  for (let i = 0; i < pairs; i++) {
    const margin = scores[i] - scores[pairs + i]
    loss +=
      invPairs *
      (margin > 0 ? Math.log1p(Math.exp(-margin)) : Math.log1p(Math.exp(margin)) - margin)
    if (margin > 0) accuracy += invPairs
    d_scores[pairs + i] = invPairs / (1 + Math.exp(margin))
    d_scores[i] = -d_scores[pairs + i]
  }
  return { loss, accuracy, d_scores }
}
