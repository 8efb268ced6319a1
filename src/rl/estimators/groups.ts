// Computes the statistics of groups of responses. A group is all rows with one id in `index`; ids
// and rows come in any order. Where all scores of a group are equal its advantages are exactly 0,
// whatever its mean rounds to (except grpo_vectorized, which repeats verl's float32). Float64.

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

export type Scores = ArrayLike<number>
export const sumOf = (rows: readonly number[], value: (b: number) => number) =>
  rows.reduce((sum, b) => sum + value(b), 0)
export const isFlat = (scores: Scores, rows: readonly number[]) =>
  rows.every((b) => scores[b] === scores[rows[0]])

/** 0 for a group of one, as in verl; a mean of equal scores is that score, without a rounding
 * error. */
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
export function byGroup(
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

/** What grpo and its variants add to the standard deviation where nothing else is said, as in
 * verl. */
export const NORM_ADV_EPSILON = 1e-6

/** How grpo and its variants divide; verl's algorithm.norm_adv_by_std_in_grpo (true), and what its
 * functions call epsilon. */
export interface GroupNorm {
  readonly norm_adv_by_std_in_grpo?: boolean
  readonly norm_adv_epsilon?: number
}

/** s_b - mean_g, where a group of one keeps its score. */
export function centredScores(scores: Scores, index: ArrayLike<number>): Float64Array {
  return byGroup(index, (rows) => {
    const mean = groupMean(scores, rows)
    return (b) => scores[b] - mean
  })
}

/** Share of groups whose scores differ: only these move a group-relative policy. */
export function informativeShare(scores: ArrayLike<number>, groupSize: number): number {
  const groups = scores.length / groupSize
  let informative = 0
  for (let g = 0; g < groups; g++) {
    const first = scores[g * groupSize]
    for (let i = 1; i < groupSize; i++)
      if (scores[g * groupSize + i] !== first) {
        informative++
        break
      }
  }
  return informative / groups
}
