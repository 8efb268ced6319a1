// Tries a reward as a person composes it: which parts there are, and what it says of a few answers
// before anything is trained.

import { taskOf } from '../../document/experiment/fields/task_fields.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { callOnPage } from '../../host/sandbox/page_programs.ts'
import { createReward } from '../../tasks/rewards/composed.ts'
import { type FoundFunctions, rewardFunctions } from '../../tasks/rewards/functions.ts'
import type { RewardKind } from '../../tasks/rewards/reward.ts'
import { rewardKinds } from '../../tasks/rewards/rewards.ts'
import { USUAL_FUNCTION } from '../../tasks/rewards/signature.ts'
import { type TriedRow, tryReward } from '../../tasks/rewards/trial.ts'
import { installProgramRunner, loadProgram, PROGRAM_ID } from '../../tasks/task/program.ts'
import { findContents } from '../contents/contents.ts'
import { keepProgram, type NamedProgram } from '../contents/kept_programs.ts'

export type { FoundFunction } from '../../tasks/rewards/functions.ts'
export type { ParamValue, RewardParam } from '../../tasks/rewards/reward.ts'
export { type TriedRow, verdictOf } from '../../tasks/rewards/trial.ts'
export type PartChoice = Experiment['reward']['parts'][number]

/** Time to import a program, the start of Python included. */
const LOOKING = { timeout_ms: 60_000, batch_timeout_ms: 60_000 }

/** The kinds of parts that a reward of this experiment may have; a program is one more. */
export const kindsOf = ({ task }: Experiment): readonly RewardKind[] => rewardKinds(taskOf(task))

/** The trial of an experiment's reward. Rejects with the reason where it cannot be made, or a file
 * of it is not here. */
export async function tryRewardOf(experiment: Experiment): Promise<readonly TriedRow[]> {
  const task = taskOf(experiment.task)
  const reward = createReward(experiment.reward, task)
  if (!(await findContents(experiment))) throw new RangeError('A file of it is not here.')
  installProgramRunner(callOnPage)
  return tryReward(task, reward, experiment.seed)
}

/** The functions of a program that is here. Rejects with the reason where it does not begin. */
export async function functionsOf({ code, name }: NamedProgram): Promise<FoundFunctions> {
  installProgramRunner(callOnPage)
  return rewardFunctions({ code, name, ...LOOKING })
}

/** Keeps the text of a program, and makes parts of it: one for each function that it means. Where
 * it does not say which, or does not even begin, one part whose trial says so. Throws RangeError
 * for one that is too long. */
export async function programParts(source: string, file: string): Promise<readonly PartChoice[]> {
  const named = await keepProgram(source, file)
  loadProgram(named.code, source)
  const { chosen } = await functionsOf(named).catch(() => ({ chosen: [] }))
  const functions = chosen.length > 0 ? chosen : ['']
  return functions.map((own) => ({
    id: PROGRAM_ID,
    weight: 1,
    ...named,
    ...(own !== '' && own !== USUAL_FUNCTION && { function: own }),
  }))
}
