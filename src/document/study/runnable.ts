// Says why an experiment cannot be an arm although its document is sound, before anything is
// trained.
import { createReward } from '../../tasks/rewards/composed.ts'
import { isPairedDocument } from '../experiment/fields/phases.ts'
import { taskOf } from '../experiment/fields/task_fields.ts'
import type { Experiment } from '../experiment/schema/schema.ts'

/** The reason in a sentence; undefined where it can run as far as its document says. */
export function unrunnable({ phases, reward, task, steering }: Experiment): string | undefined {
  const others = steering.filter(({ kind }) => kind !== 'set').length
  if (others > 0)
    return `steering: a study can repeat fields that were set while a run trained, and nothing else that was done by hand (other entries: ${others}); leave them out, and write inserted phases into phases`
  const asking = phases.findIndex(
    (phase) =>
      isPairedDocument(phase) && phase.pairs.source === 'human' && phase.pairs.verdicts === null,
  )
  if (asking >= 0)
    return `phases.${asking}.pairs.source: it waits for a person’s verdicts, and a study waits for nobody`
  // What a program holds is known where its file is.
  if (reward.parts.some((part) => 'code' in part)) return undefined
  try {
    createReward(reward, taskOf(task))
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
