// PF-PPO: train on rows drawn again by their score, so that clear successes and failures come up more often (Shen and Zhang
// 2024, arXiv 2409.06957; verl/trainer/ppo/core_algos.py compute_pf_ppo_reweight_data). verl does so after gae only.

export const REWEIGHT_METHODS = ['pow', 'max_min', 'max_random'] as const
export type ReweightMethod = (typeof REWEIGHT_METHODS)[number]

/** verl's algorithm.pf_ppo; weight_pow matters to `pow` only. */
export interface PfPpoConfig {
  readonly reweight_method: ReweightMethod
  readonly weight_pow: number
}

/** Keeps every row possible. */
const WEIGHT_EPSILON = 1e-8

/**
 * How likely each row is, up to a factor: [B] → [B]. pow: |s|^weight_pow; max_min: 1 for the highest and the lowest score of
 * the batch, else 0; max_random: 0.4 for the highest, else 0.1; all plus 1e-8. Scores are the sums of token_level_scores,
 * before any KL penalty. Throws RangeError for an unknown method or a weight that is not finite.
 */
export function pfPpoWeights(
  scores: ArrayLike<number>,
  { reweight_method, weight_pow }: PfPpoConfig,
): Float64Array {
  const values = Float64Array.from(scores)
  const max = values.reduce((a, b) => Math.max(a, b), -Infinity)
  const min = values.reduce((a, b) => Math.min(a, b), Infinity)
  const WEIGHTS: Readonly<Record<ReweightMethod, (score: number) => number>> = {
    pow: (score) => Math.abs(score) ** weight_pow,
    max_min: (score) => (score === max || score === min ? 1 : 0),
    max_random: (score) => (score === max ? 0.4 : 0.1),
  }
  const weigh = WEIGHTS[reweight_method]
  if (!weigh)
    throw new RangeError(
      `reweight_method: expected one of ${REWEIGHT_METHODS.join(', ')}, found ${reweight_method}`,
    )
  return values.map((score, b) => {
    const weight = weigh(score) + WEIGHT_EPSILON
    if (!Number.isFinite(weight))
      throw new RangeError(`row ${b}: expected a finite weight, found ${weight} for score ${score}`)
    return Math.max(weight, WEIGHT_EPSILON)
  })
}

/**
 * One row per uniform number u in [0, 1), drawn with replacement: the first row whose share of the weights, added to that of
 * the rows before it, exceeds u. weights [B], uniforms [n] → rows [n]; verl draws n = B. Throws RangeError for a u outside
 * [0, 1) and for weights that do not add up to a finite number above 0.
 */
export function resampledRows(
  weights: ArrayLike<number>,
  uniforms: ArrayLike<number>,
): Uint32Array {
  let total = 0
  const cumulative = Float64Array.from(weights, (weight) => {
    total += weight
    return total
  })
  if (!(total > 0 && total < Infinity))
    throw new RangeError(`weights: expected a sum above 0, found ${total}`)
  return Uint32Array.from(uniforms, (u) => {
    if (!(u >= 0 && u < 1)) throw new RangeError(`expected a uniform number in [0, 1), found ${u}`)
    // Rounding may put u·total at total itself, which no row exceeds: then it is the last row.
    let [low, high] = [0, cumulative.length - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if (cumulative[middle] > u * total) high = middle
      else low = middle + 1
    }
    return low
  })
}
