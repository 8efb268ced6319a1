// Starts a run on a device: from a document, or from a state that it goes back to.

import type { ContentFile } from '../../../document/content/content.ts'
import { parseExperiment } from '../../../document/experiment/experiment.ts'
import { taskOf } from '../../../document/experiment/fields/task_fields.ts'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { loadTask } from '../../../tasks/index.ts'
import { createReward } from '../../../tasks/rewards/composed.ts'
import type { Checkpoint, SteeredState } from '../../checkpoints/file/checkpoint.ts'
import { differsFrom, type Opened } from '../../checkpoints/origin.ts'
import { contentNames } from '../../content/named.ts'
import { ExperimentError } from '../base/session_host.ts'

/** The document that a run is to begin with. Throws ExperimentError with all that is wrong with
 * it. */
export function readDocument(experiment: Experiment): Experiment {
  const parsed = parseExperiment(experiment)
  if (parsed.ok) return parsed.experiment
  throw new ExperimentError(
    parsed.issues.map(({ path, message }) => `${path}: ${message}`).join('\n'),
  )
}

/** Loads the files that the document names; without `files`, the caller has loaded them. Throws
 * ExperimentError where one is missing or does not fit. */
export async function takeContents(
  document: Experiment | undefined,
  files: readonly ContentFile[] | undefined,
): Promise<void> {
  if (!document) return
  checkReward(document)
  await loadTask(document.task.id)
  if (!files || contentNames(document).length === 0) return
  try {
    // Only some runs have files.
    const { loadContents } = await import('../../content/load.ts')
    await loadContents(document, files)
  } catch (error) {
    throw new ExperimentError(error instanceof Error ? error.message : String(error))
  }
}

/** The page knows no more of a reward than its form. Throws ExperimentError for a part or a setting
 * that there is not. */
function checkReward({ reward, task }: Experiment): void {
  try {
    createReward(reward, taskOf(task))
  } catch (error) {
    throw new ExperimentError(error instanceof Error ? error.message : String(error))
  }
}

/** The position and the experiment of a state; without one, those of the beginning. */
export function restoredState(state: SteeredState | undefined, document: Experiment) {
  const { step, phase, phase_step } = state?.trainer ?? { step: 0, phase: 0, phase_step: 0 }
  const experiment = state?.experiment ?? { ...document, steering: [] }
  return { step, phase, phase_step, experiment, document }
}

/** The checkpoint that a run began with, and what differs from where that was made; `here` where
 * the run has not stepped yet. */
export function restoredFrom(
  opened: Opened | undefined,
  here: Checkpoint['made_on'] | undefined,
): { readonly parent?: Opened['parent'] & object; readonly differs?: string } {
  const parent = opened?.parent
  const differs = opened && here && differsFrom(opened.checkpoint.made_on, here)
  return { ...(parent && { parent }), ...(differs !== undefined && { differs }) }
}
