// Scores right, wrong and empty answers with the reward before anything is trained.

import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { promptedTask } from '../../document/experiment/trainer_config.ts'
import { createReward } from '../../tasks/rewards/composed.ts'
import { tryReward, verdictOf } from '../../tasks/rewards/trial.ts'
import { LabFailure } from '../base/command.ts'
import { reason } from '../base/disk.ts'

/** What a person should know of the reward before it is trained on; nothing of the task's own
 * score. Throws LabFailure where it can score no answer at all. */
export async function triedReward(experiment: Experiment): Promise<readonly string[]> {
  if (experiment.reward.parts.length === 0) return []
  const task = promptedTask(experiment)
  const reward = createReward(experiment.reward, task)
  const { refused, remarks } = verdictOf(
    await rowsOf(() => tryReward(task, reward, experiment.seed)),
  )
  if (refused !== undefined) throw new LabFailure(`${refused}\nNothing was trained.`)
  return remarks
}

/** A program that cannot be started is the person's to change. */
async function rowsOf<T>(tried: () => Promise<T>): Promise<T> {
  try {
    return await tried()
  } catch (error) {
    throw new LabFailure(`${reason(error)}\nNothing was trained.`)
  }
}
