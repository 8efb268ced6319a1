// A reward as a person composes it: which parts there are, and what it says of a few answers before anything is trained.
import { installProgramRunner, PROGRAM_ID } from '../../tasks/program.ts'
import { createReward } from '../../tasks/rewards/composed.ts'
import type { RewardKind } from '../../tasks/rewards/reward.ts'
import { rewardKinds } from '../../tasks/rewards/rewards.ts'
import { type TriedRow, tryReward } from '../../tasks/rewards/trial.ts'
import { taskOf } from '../experiment/fields/task_fields.ts'
import type { Experiment } from '../experiment/schema.ts'
import { callOnPage } from '../sandbox/page_programs.ts'
import { findContents } from './contents/contents.ts'
import { keepProgram } from './contents/kept_programs.ts'

export type { ParamValue, RewardParam } from '../../tasks/rewards/reward.ts'
export { type TriedRow, verdictOf } from '../../tasks/rewards/trial.ts'
export type PartChoice = Experiment['reward']['parts'][number]

/** The kinds of parts that a reward of this experiment may have; a program is one more. */
export const kindsOf = ({ task }: Experiment): readonly RewardKind[] => rewardKinds(taskOf(task))

/** The trial of an experiment's reward. Rejects with the reason where it cannot be made, or a file of it is not here. */
export async function tryRewardOf(experiment: Experiment): Promise<readonly TriedRow[]> {
  const task = taskOf(experiment.task)
  const reward = createReward(experiment.reward, task)
  if (!(await findContents(experiment))) throw new RangeError('A file of it is not here.')
  installProgramRunner(callOnPage)
  return tryReward(task, reward, experiment.seed)
}

/** Keeps the text of a program, and makes a part of it. Throws RangeError for one that is too long. */
export const programPart = async (source: string, name: string): Promise<PartChoice> => ({
  ...{ id: PROGRAM_ID, weight: 1 },
  ...(await keepProgram(source, name)),
})
