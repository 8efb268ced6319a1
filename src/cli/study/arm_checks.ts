// What is checked of every arm on this machine before any is trained: its files, and the memory that it takes.
import type { Arm } from '../../lab/study/arms.ts'
import { LabFailure } from '../command.ts'
import { loadNamedFiles } from '../input/data_set.ts'
import { refuseMemory } from '../train/refuse_memory.ts'

/** Each arm that cannot run here, with the reason. */
export async function armProblems(arms: readonly Arm[]): Promise<string[]> {
  const problems: string[] = []
  for (const { name, experiment } of arms)
    try {
      await loadNamedFiles(experiment, undefined, () => {})
      refuseMemory(experiment, undefined)
    } catch (error) {
      if (!(error instanceof LabFailure)) throw error
      problems.push(`${name}: ${error.message}`)
    }
  return problems
}
