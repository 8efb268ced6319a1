// Checks every arm of a study on this machine before any is trained: its files, its memory and its
// reward.
import type { Arm } from '../../document/study/arms.ts'
import { LabFailure } from '../base/command.ts'
import { loadNamedFiles } from '../input/data_set.ts'
import { runPrograms } from '../sandbox/programs.ts'
import { refuseMemory } from '../train/refuse_memory.ts'
import { triedReward } from '../train/reward_trial.ts'

/** Each arm that cannot run here, with the reason. A reward that several arms have in common is
 * tried once. */
export async function armProblems(arms: readonly Arm[]): Promise<string[]> {
  const problems: string[] = []
  const tried = new Map<string, Promise<unknown>>()
  const endPrograms = runPrograms()
  try {
    for (const { name, experiment } of arms)
      try {
        await loadNamedFiles(experiment, undefined, () => {})
        refuseMemory(experiment, undefined)
        const asked = JSON.stringify([experiment.task, experiment.reward])
        if (!tried.has(asked)) tried.set(asked, triedReward(experiment))
        await tried.get(asked)
      } catch (error) {
        if (!(error instanceof LabFailure)) throw error
        problems.push(`${name}: ${error.message}`)
      }
  } finally {
    endPrograms()
  }
  return problems
}
