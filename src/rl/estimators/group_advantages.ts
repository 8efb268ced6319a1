// Advantages of whole responses from the scores of their group: [B] in, [B] out. A group is all rows with one id in `index`;
// ids and rows come in any order. Where all scores of a group are equal its advantages are exactly 0, whatever its mean
// rounds to (except grpo_vectorized, which repeats verl's float32). Float64.

/** The rows of each group, groups in order of appearance. */
export function groupRows(index: ArrayLike<number>): number[][] {
  const groups = new Map<number, number[]>()
  for (let b = 0; b < index.length; b++) {
    const rows = groups.get(index[b])
    if (rows) rows.push(b)
    else groups.set(index[b], [b])
  }
  return [...groups.values()]
}

type Scores = ArrayLike<number>
const sumOf = (rows: readonly number[], value: (b: number) => number) =>
  rows.reduce((sum, b) => sum + value(b), 0)
const isFlat = (scores: Scores, rows: readonly number[]) =>
  rows.every((b) => scores[b] === scores[rows[0]])

/** 0 for a group of one, as in verl; a mean of equal scores is that score, without a rounding error. */
export function groupMean(scores: Scores, rows: readonly number[]): number {
  if (rows.length === 1) return 0
  return isFlat(scores, rows) ? scores[rows[0]] : sumOf(rows, (b) => scores[b]) / rows.length
}

/** The unbiased standard deviation of two scores or more. */
export function groupStd(scores: Scores, rows: readonly number[]): number {
  const mean = groupMean(scores, rows)
  return Math.sqrt(sumOf(rows, (b) => (scores[b] - mean) ** 2) / (rows.length - 1))
}

/** [B] of advantages: `prepare` sees the rows of one group and returns the advantage of each. */
function byGroup(
  index: ArrayLike<number>,
  prepare: (rows: readonly number[]) => (b: number) => number,
): Float64Array {
  const advantages = new Float64Array(index.length)
  for (const rows of groupRows(index)) {
    const advantage = prepare(rows)
    for (const b of rows) advantages[b] = advantage(b)
  }
  return advantages
}

/** How grpo and its variants divide; verl's algorithm.norm_adv_by_std_in_grpo (true), and what its functions call epsilon (1e-6). */
export interface GroupNorm {
  readonly norm_adv_by_std_in_grpo?: boolean
  readonly norm_adv_epsilon?: number
}

/**
 * GRPO: a_b = (s_b - mean_g) / (std_g + epsilon) over the group g of responses to one prompt, with the unbiased std
 * (Shao et al. 2024, arXiv 2402.03300 section 4.1; verl/trainer/ppo/core_algos.py compute_grpo_outcome_advantage).
 * Without `norm_adv_by_std_in_grpo` only the mean is subtracted (Dr. GRPO, arXiv 2503.20783).
 *
 * scores [B], index [B] → advantages [B]. A group of one has mean 0 and std 1 in verl: its raw score, divided by 1 + epsilon in
 * float32.
 */
export function grpoAdvantages(
  scores: Scores,
  index: ArrayLike<number>,
  { norm_adv_by_std_in_grpo = true, norm_adv_epsilon: epsilon = 1e-6 }: GroupNorm = {},
): Float64Array {
  return byGroup(index, (rows) => {
    const mean = groupMean(scores, rows)
    if (!norm_adv_by_std_in_grpo) return (b) => scores[b] - mean
    const divisor = rows.length === 1 ? Math.fround(1 + epsilon) : groupStd(scores, rows) + epsilon
    return (b) => (scores[b] - mean) / divisor
  })
}

/**
 * GRPO as verl's vectorized variant computes it: mean and std of a group in float32 from Σs and Σs², the variance not below
 * epsilon, so that std is 1e-3 or more and near-ties differ from `grpoAdvantages` (verl/utils/groupwise.py group_mean_std).
 * verl's trainer always divides here, whatever the configuration says; its function obeys the flag, as this one does.
 */
export function grpoVectorizedAdvantages(
  scores: Scores,
  index: ArrayLike<number>,
  { norm_adv_by_std_in_grpo = true, norm_adv_epsilon: epsilon = 1e-6 }: GroupNorm = {},
): Float64Array {
  return byGroup(index, (rows) => {
    const { mean, std } = float32Statistics(scores, rows, epsilon)
    const divisor = norm_adv_by_std_in_grpo ? Math.fround(std + epsilon) : 1
    return (b) => (scores[b] - mean) / divisor
  })
}

/** verl's group_mean_std: each operation rounds to float32, in row order; a group of one has mean 0 and std 1. */
function float32Statistics(scores: Scores, rows: readonly number[], epsilon: number) {
  if (rows.length === 1) return { mean: 0, std: 1 }
  const { fround } = Math
  const count = rows.length
  let sum = 0
  let squares = 0
  for (const b of rows) {
    const score = fround(scores[b])
    sum = fround(sum + score)
    squares = fround(squares + fround(score * score))
  }
  const spread = fround(squares - fround(fround(sum * sum) / count))
  const variance = Math.max(fround(spread / (count - 1)), fround(epsilon))
  return { mean: fround(sum / count), std: fround(Math.sqrt(variance)) }
}

/**
 * Pass@k: only the best response of a group counts, a = (s_max - s_second) / (std_g + epsilon); all others get 0 (arXiv
 * 2503.19595; verl compute_grpo_passk_outcome_advantage). Throws RangeError for a group of one.
 */
export function grpoPasskAdvantages(
  scores: Scores,
  index: ArrayLike<number>,
  { norm_adv_by_std_in_grpo = true, norm_adv_epsilon: epsilon = 1e-6 }: GroupNorm = {},
): Float64Array {
  return byGroup(index, (rows) => {
    if (rows.length < 2)
      throw new RangeError(
        `grpo_passk: expected 2 responses or more in each group, found 1 in group ${index[rows[0]]}`,
      )
    const [best, second] = [...rows].sort((a, b) => scores[b] - scores[a])
    const divisor = norm_adv_by_std_in_grpo ? groupStd(scores, rows) + epsilon : 1
    const advantage = (scores[best] - scores[second]) / divisor
    return (b) => (b === best ? advantage : 0)
  })
}

/** s_b - mean_g, where a group of one keeps its score: the first half of REINFORCE++ with baseline. */
export function centredScores(scores: Scores, index: ArrayLike<number>): Float64Array {
  return grpoAdvantages(scores, index, { norm_adv_by_std_in_grpo: false })
}

/**
 * RLOO: a_b = s_b minus the mean of the others = (s_b - mean_g)·n/(n - 1) (Ahmadian et al. 2024, arXiv 2402.14740; verl
 * compute_rloo_outcome_advantage). A group of one keeps its score; with `zero_singletons`, as in rloo_vectorized, it gets 0.
 */
export function rlooAdvantages(
  scores: Scores,
  index: ArrayLike<number>,
  { zero_singletons = false }: { zero_singletons?: boolean } = {},
): Float64Array {
  return byGroup(index, (rows) => {
    const n = rows.length
    if (n === 1) return (b) => (zero_singletons ? 0 : scores[b])
    const mean = groupMean(scores, rows)
    return (b) => ((scores[b] - mean) * n) / (n - 1)
  })
}

/**
 * OPO: a_b = s_b - Σ_g n_i·s_i / Σ_g n_i, a baseline weighted by response tokens n_i (Hao et al. 2025, arXiv 2505.23585;
 * verl compute_opo_outcome_advantage). A group of one has baseline 0. `response_lengths` [B]; in a group without a single
 * token, where verl divides 0 by 0, the baseline is 0.
 */
export function opoAdvantages(
  scores: Scores,
  response_lengths: ArrayLike<number>,
  index: ArrayLike<number>,
): Float64Array {
  return byGroup(index, (rows) => {
    const tokens = sumOf(rows, (b) => response_lengths[b])
    let baseline = 0
    if (rows.length > 1 && tokens > 0)
      baseline = isFlat(scores, rows)
        ? scores[rows[0]]
        : sumOf(rows, (b) => response_lengths[b] * scores[b]) / tokens
    return (b) => scores[b] - baseline
  })
}

/**
 * GPG: a_b = α·(s_b - mean_g)/f_norm with α = B / (number of non-zero scores of the batch, at least 1), in float32 as torch
 * divides integers (Chu et al. 2025, arXiv 2504.02546; verl compute_gpg_outcome_advantage). A group of one has mean 0.
 */
export function gpgAdvantages(
  scores: Scores,
  index: ArrayLike<number>,
  { f_norm = 1 }: { f_norm?: number } = {},
): Float64Array {
  let nonzero = 0
  for (let b = 0; b < scores.length; b++) if (scores[b] !== 0) nonzero++
  const alpha = Math.fround(scores.length / Math.max(nonzero, 1))
  return centredScores(scores, index).map((centred) => (alpha * centred) / f_norm)
}
