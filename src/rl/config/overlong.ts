// Puts a response's score on the token that carries it, and takes off DAPO's penalty for responses
// that come close to the maximum length.

/** verl's reward_kwargs: max_resp_len and overlong_buffer_cfg.len, in tokens, and
 * overlong_buffer_cfg.penalty_factor. */
export interface OverlongBuffer {
  readonly max_resp_len: number
  readonly len: number
  readonly penalty_factor: number
}

/** The soft penalty of DAPO (Yu et al. 2025, arXiv 2503.14476 equation 13; verl reward manager
 * dapo), to be added to the score: 0 for a response up to max_resp_len - len tokens, then falling
 * in a line to -penalty_factor at max_resp_len and on below it. Rounded to float32, in which verl
 * computes it. Throws RangeError if len is not in (0, max_resp_len]. */
export function overlongReward(
  responseLength: number,
  { max_resp_len, len, penalty_factor }: OverlongBuffer,
): number {
  if (!(len > 0 && len <= max_resp_len))
    throw new RangeError(
      `overlong_buffer.len: expected above 0 and at most max_resp_len = ${max_resp_len}, found ${len}`,
    )
  const room = max_resp_len - len - responseLength
  return Math.min(0, Math.fround(Math.fround(room / len) * penalty_factor))
}

/** Scores [B] at the last token of their response, zero elsewhere: token_level_scores [B, R].
 * `responseLengths` [B] counts all tokens of a response, those it did not write too; without any,
 * the score is in the last column, as in verl. */
export function tokenLevelScores(
  scores: ArrayLike<number>,
  responseLengths: ArrayLike<number>,
  responseLength: number,
): Float64Array {
  const tokenScores = new Float64Array(scores.length * responseLength)
  for (let b = 0; b < scores.length; b++) {
    const last = responseLengths[b] > 0 ? responseLengths[b] - 1 : responseLength - 1
    tokenScores[b * responseLength + last] = scores[b]
  }
  return tokenScores
}
