// Forces tokens in plain loops: the reference of force_token.

/** What sampling wrote; the names and shapes are the kernel's. */
export interface Sampled {
  readonly ended: number[]
  readonly response_ids: number[]
  readonly rollout_log_probs: number[]
  readonly rollout_entropy: number[]
  readonly next_ids: number[]
  readonly attention_mask: number[]
}

/** The same with the forced tokens of one position. */
export function forceTokenRef(
  forced: ArrayLike<number>,
  sampled: Sampled,
  at: { response_length: number; position: number; width: number; column: number },
): Sampled {
  const after = structuredClone(sampled)
  after.ended.forEach((_, row) => {
    const i = row * at.response_length + at.position
    if (forced[i] === 0) return
    after.response_ids[i] = forced[i] - 1
    after.rollout_log_probs[i] = 0
    after.rollout_entropy[i] = 0
    after.next_ids[row] = forced[i] - 1
    after.attention_mask[row * at.width + at.column] = 1
    after.ended[row] = 0
  })
  return after
}
