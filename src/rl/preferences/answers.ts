// Computes sums over the tokens of answers, and sends gradients of these sums back.

type Numbers = ArrayLike<number>

/** Per-token numbers of answers, [rows, columns] each; what masked columns hold means nothing. */
export interface ScoredAnswers {
  readonly rows: number
  readonly columns: number
  /** Under the policy, nats. */
  readonly log_probs: Numbers
  /** Under the reference; absent for losses that have none. */
  readonly ref_log_probs?: Numbers | undefined
  /** 1: a token of the completion, the end token included. */
  readonly completion_mask: Numbers
  /** 1: a token of prompt or completion; only ORPO reads it, of the completion alone without it. */
  readonly sequence_mask?: Numbers | undefined
  /** Σ p² over the vocabulary under the policy; only use_weighting reads it. */
  readonly sum_p_squared?: Numbers | undefined
}

/** Completion tokens of every row. */
export function tokenCounts({ rows, columns, completion_mask }: ScoredAnswers): Float64Array {
  const counts = new Float64Array(rows)
  for (let i = 0; i < rows * columns; i++) if (completion_mask[i]) counts[Math.floor(i / columns)]++
  return counts
}

/** What each token counts in the sum of its row: 1 or 0, or LD-DPO's `ld_alpha` beyond the length
 * of the shorter answer of a pair. */
export function tokenWeights(answers: ScoredAnswers, ldAlpha: number | null): Float64Array {
  const { rows, columns, completion_mask } = answers
  const counts = tokenCounts(answers)
  const weights = new Float64Array(rows * columns)
  for (let b = 0; b < rows; b++) {
    const other = (b + rows / 2) % rows
    const shared = ldAlpha === null ? counts[b] : Math.min(counts[b], counts[other])
    let seen = 0
    for (let t = 0; t < columns; t++) {
      const i = b * columns + t
      if (!completion_mask[i]) continue
      weights[i] = seen < shared ? 1 : (ldAlpha ?? 1)
      seen++
    }
  }
  return weights
}

/** Σ weight · value of every row; values of weight 0 are not read unless `mask` has them. */
export function rowSums(values: Numbers, weights: Numbers, columns: number): Float64Array {
  const sums = new Float64Array(weights.length / columns)
  for (let i = 0; i < weights.length; i++)
    if (weights[i]) sums[Math.floor(i / columns)] += weights[i] * values[i]
  return sums
}

/** Adds `slopes` of rows to the gradient of their tokens: d [rows, columns] += slope · weight. */
export function spread(d: Float64Array, slopes: Numbers, weights: Numbers, columns: number): void {
  for (let i = 0; i < d.length; i++) d[i] += slopes[Math.floor(i / columns)] * weights[i]
}

/** The mean of numbers; undefined of none. */
export const meanOf = (values: Numbers): number | undefined =>
  values.length === 0
    ? undefined
    : Array.from(values).reduce((sum, x) => sum + x, 0) / values.length
