// Tries the reward of a run of the page before it trains.

import { taskOf } from '../../../document/experiment/fields/task_fields.ts'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { createReward, RewardError } from '../../../tasks/rewards/composed.ts'
import { tryReward, verdictOf } from '../../../tasks/rewards/trial.ts'
import type { LabEvent } from '../../protocol/protocol.ts'

/** Tries the reward of a document whose files are loaded, and tells what a person should know of
 * it; of the task's own score nothing. Throws RewardError where it can score no answer at all. */
export async function tellTrial(
  document: Experiment | undefined,
  run: number,
  post: (event: LabEvent) => void,
): Promise<void> {
  if (!document || document.reward.parts.length === 0) return
  post({ type: 'progress', run, message: 'Trying the reward on nine answers' })
  const task = taskOf(document.task)
  const reward = createReward(document.reward, task)
  const { refused, remarks } = verdictOf(await tryReward(task, reward, document.seed))
  if (refused !== undefined) throw new RewardError(refused)
  if (remarks.length > 0) post({ type: 'reward_tried', run, remarks })
}
