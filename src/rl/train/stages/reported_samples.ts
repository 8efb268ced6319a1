// Reports the responses of a step as its result shows them.
import { type DrawnBatch, rewardPartsOf } from '../../experience/drawn_batch.ts'
import type { StepSample } from '../parts/step_result.ts'

/** Why a tool of a person's own did not answer, the first time. */
function toolProblemOf(
  { turns }: DrawnBatch['batch'],
  row: number,
): Pick<StepSample, 'tool_problem'> {
  const [first] = turns?.tool_problems?.[row] ?? []
  return first ? { tool_problem: `${first.tool}: ${first.message}` } : {}
}

/** In the order in which they were drawn; advantages [B]. */
export function reportSamples(drawn: DrawnBatch, advantages: ArrayLike<number>): StepSample[] {
  const { order, samples, texts, spoken, scores, taskScores, batch } = drawn
  const reported: StepSample[] = []
  order.forEach((row, b) => {
    reported[row] = {
      prompt: samples[b].prompt,
      response: texts[b],
      ...(spoken && { turns: spoken[b] }),
      ...toolProblemOf(batch, b),
      ground_truth: samples[b].ground_truth,
      score: taskScores[b],
      ...rewardPartsOf(drawn, b),
      ...(scores !== taskScores && { rm_score: scores[b] }),
      advantage: advantages[b],
      response_length: batch.response_lengths[b],
      is_ended: batch.is_ended[b],
    }
  })
  return reported
}
