// Builds what a reward is handed of a response to a problem.
import type { Sample, Task } from '../task/task.ts'
import type { Response } from './reward.ts'

/** verl's num_turns of a response that was written at once: the prompt, and the response. */
const ONE_TURN = 2

/** How a response was written. */
export interface Written {
  /** Its token ids with the end token. */
  readonly ids: ArrayLike<number>
  /** Where it has several turns. */
  readonly num_turns?: number | undefined
}

/** A response to a problem, with all that its row holds. */
export const responseTo = (
  { prompt, ground_truth, truth, data_source, extra_info, columns, messages }: Sample,
  task: Pick<Task, 'id'>,
  solution_str: string,
  { ids, num_turns = ONE_TURN }: Written,
): Response => ({
  data_source: data_source ?? task.id,
  solution_str,
  ground_truth: truth ?? ground_truth,
  extra_info: { ...extra_info, prompt, num_turns },
  completion_ids: Array.from(ids),
  ...(columns && { columns }),
  ...(messages && { messages }),
})
