// Advantage estimators: pure functions of the scores of a batch.

/**
 * GRPO: a_b = (s_b - mean_g) / (std_g + 1e-6) over the group g of responses to one prompt, with the unbiased std
 * (Shao et al. 2024, arXiv 2402.03300 section 4.1; verl/trainer/ppo/core_algos.py compute_grpo_outcome_advantage).
 * Without `norm_adv_by_std_in_grpo` only the mean is subtracted (Dr. GRPO, arXiv 2503.20783).
 *
 * scores [B], group_index [B] (ids need not be contiguous) → advantages [B]; broadcast over the response tokens by
 * `spreadAdvantages`. A group whose scores are all equal gets exactly 0. A group of one has mean 0 and std 1 in verl:
 * its raw score; the schema refuses n = 1 for that reason.
 */
export function grpoAdvantages(
  scores: ArrayLike<number>,
  group_index: ArrayLike<number>,
  {
    norm_adv_by_std_in_grpo,
    epsilon = 1e-6,
  }: { norm_adv_by_std_in_grpo: boolean; epsilon?: number },
): Float64Array {
  const groups = new Map<number, number[]>()
  for (let b = 0; b < scores.length; b++) {
    const rows = groups.get(group_index[b])
    if (rows) rows.push(b)
    else groups.set(group_index[b], [b])
  }
  const advantages = new Float64Array(scores.length)
  for (const rows of groups.values()) {
    const single = rows.length === 1
    const mean = single ? 0 : rows.reduce((sum, b) => sum + scores[b], 0) / rows.length
    const squares = rows.reduce((sum, b) => sum + (scores[b] - mean) ** 2, 0)
    const std = single ? 1 : Math.sqrt(squares / (rows.length - 1))
    // Equal scores: the mean may differ from them by a rounding error, which 1e-6 would blow up.
    const is_flat = !single && rows.every((b) => scores[b] === scores[rows[0]])
    for (const b of rows) {
      const centred = is_flat ? 0 : scores[b] - mean
      advantages[b] = norm_adv_by_std_in_grpo ? centred / (std + epsilon) : centred
    }
  }
  return advantages
}

/** One advantage per row over that row's response tokens: [B] → [B, R], zero where response_mask is zero. */
export function spreadAdvantages(
  advantages: ArrayLike<number>,
  response_mask: Float32Array,
  response_length: number,
): Float32Array {
  return response_mask.map((mask, i) => mask * advantages[Math.floor(i / response_length)])
}

/** Share of groups whose scores differ: only these move a group-relative policy. */
export function informativeShare(scores: ArrayLike<number>, group_size: number): number {
  const groups = scores.length / group_size
  let informative = 0
  for (let g = 0; g < groups; g++) {
    const first = scores[g * group_size]
    for (let i = 1; i < group_size; i++)
      if (scores[g * group_size + i] !== first) {
        informative++
        break
      }
  }
  return informative / groups
}
