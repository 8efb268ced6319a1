// Computes distributions of student and teacher over one vocabulary, and how a gradient by
// log-probs becomes one by logits.

export type Numbers = ArrayLike<number>

/** Tokens [N] with a distribution each over V entries, row-major. */
export interface Logits {
  readonly data: Numbers
  /** V */
  readonly vocabulary: number
}

/** log softmax(z / temperature) of token i: [V]. */
export function logProbsOf({ data, vocabulary: V }: Logits, i: number, temperature = 1) {
  const z = Float64Array.from({ length: V }, (_, v) => data[i * V + v] / temperature)
  const top = z.reduce((most, x) => Math.max(most, x), Number.NEGATIVE_INFINITY)
  const logSum = top + Math.log(z.reduce((sum, x) => sum + Math.exp(x - top), 0))
  return z.map((x) => x - logSum)
}

/** [V] gradient by logits of a loss whose gradient by log-probs is `d_log_probs`: (g - p Σ g) /
 * temperature. */
export function gradientByLogits(
  logProbs: Float64Array,
  d_log_probs: Float64Array,
  temperature = 1,
): Float64Array {
  const total = d_log_probs.reduce((sum, g) => sum + g, 0)
  return d_log_probs.map((g, v) => (g - Math.exp(logProbs[v]) * total) / temperature)
}

/** A loss of one token's distribution, with its gradient by every log-prob. */
export interface TokenLoss {
  readonly loss: number
  readonly d_log_probs: Float64Array
}

/** A loss over a batch, and its gradient by the student's logits [N, V]. */
export interface DistributionLoss {
  readonly loss: number
  readonly d_logits: Float64Array
}

/** Σ weight_i · loss of token i over the tokens that count. */
export function distributionLoss(
  student: Logits,
  weights: Numbers,
  temperature: number,
  lossOf: (i: number, logProbs: Float64Array) => TokenLoss,
): DistributionLoss {
  const V = student.vocabulary
  const d_logits = new Float64Array(student.data.length)
  let loss = 0
  for (let i = 0; i < weights.length; i++) {
    if (weights[i] === 0) continue
    const logProbs = logProbsOf(student, i, temperature)
    const token = lossOf(i, logProbs)
    loss += weights[i] * token.loss
    const d = gradientByLogits(logProbs, token.d_log_probs, temperature)
    for (let v = 0; v < V; v++) d_logits[i * V + v] = weights[i] * d[v]
  }
  return { loss, d_logits }
}

/** Σ m x / Σ m; 0 where nothing counts. */
export function tokenMean(x: Numbers, mask: Numbers): number {
  let sum = 0
  let count = 0
  for (let i = 0; i < mask.length; i++) {
    if (mask[i] === 0) continue
    sum += x[i] * mask[i]
    count += mask[i]
  }
  return count > 0 ? sum / count : 0
}
