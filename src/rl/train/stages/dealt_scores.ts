// Deals the scores of each prompt's responses out among them: a control, whose advantages have the
// sizes of real ones and say nothing.
import { tokenLevelScores } from '../../config/overlong.ts'
import type { DrawnBatch } from '../../experience/drawn_batch.ts'
import { shuffledOrder } from '../../math/shuffle.ts'

/** Keeps these draws apart from others under the same generator and seed. */
const DEAL_STREAM = 0x6465616c

/** token_level_scores [B, R] where every response has the score of one to the same prompt, drawn
 * without replacement by (seed, step, prompt). */
export function dealtScores(
  {
    token_level_scores,
    index,
    batch: { response_length: R, response_lengths },
  }: Pick<DrawnBatch, 'token_level_scores' | 'index' | 'batch'>,
  seed: number,
  step: number,
): Float64Array {
  const scores = index.map((_, b) => {
    let sum = 0
    for (let t = 0; t < R; t++) sum += token_level_scores[b * R + t]
    return sum
  })
  const dealt = [...scores]
  for (const group of new Set(index)) {
    const rows = index.flatMap((of, b) => (of === group ? [b] : []))
    const order = shuffledOrder(rows.length, [seed, DEAL_STREAM], [step, group])
    rows.forEach((row, i) => {
      dealt[row] = scores[rows[order[i]]]
    })
  }
  return tokenLevelScores(dealt, response_lengths, R)
}
