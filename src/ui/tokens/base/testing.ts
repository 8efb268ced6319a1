// Makes traced responses for tests.
import type { TracedSample } from '../../../host/protocol/results.ts'

/** A response of `size` to its prompt, all with its score. */
export const traced = (
  prompt: string,
  response: string,
  score: number,
  columns: TracedSample['columns'] = {},
  size = 2,
): TracedSample => ({
  prompt,
  response,
  score,
  columns,
  ground_truth: '3',
  is_ended: true,
  tokens: [...response, '<eos>'],
  group: { rewards: Array(size).fill(score), lengths: Array(size).fill(2), place: 0 },
})
