// Takes edits of the settings that one button makes: back to the run, and what needs less memory.

import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { smallerExperiment } from '../../record/diagnosis/smaller.ts'
import { nextExperiment } from '../state/next_experiment.ts'
import { lockedBecause } from '../state/share_store.ts'
import { type LabState, labStore } from '../state/store.ts'
import { train } from './controls.ts'
import { edit, editField } from './edits.ts'
import { leaveRun } from './stage.ts'
import { forgetEdits } from './steering.ts'

/** Takes back what the settings show and the run does not do. */
export function discardEdits(): void {
  forgetEdits()
  const { runExperiment, runPreset, preset_id } = labStore.getState()
  if (!runExperiment) return
  const change = { experiment: runExperiment, preset_id: runPreset ?? preset_id, isBeside: false }
  edit(change, { kind: 'discard' })
  leaveRun(labStore.getState())
}

/** What `trainSmaller` would train; undefined where there is no such experiment, or the page is
 * locked. */
export const smallerNext = (state: LabState): Experiment | undefined =>
  lockedBecause('settings') === undefined ? smallerExperiment(nextExperiment(state)) : undefined

/** Puts half the batch into the settings, as an edit, and trains that. */
export function trainSmaller(): void {
  const experiment = smallerNext(labStore.getState())
  if (!experiment) return
  edit({ experiment, notices: [] }, { kind: 'smaller' })
  train()
}

/** Turns gradient checkpointing on, as an edit, and trains that. */
export function trainCheckpointed(): void {
  if (editField('model.enable_gradient_checkpointing', true) === undefined) train()
}
