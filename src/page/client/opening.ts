// Opens experiments from elsewhere in the settings: presets, and files.
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { presetOf } from '../../document/presets/presets.ts'
import { isReplaying } from '../state/replay.ts'
import { lockedBecause, openingLocked } from '../state/share_store.ts'
import { emptyRun, type LabState, labStore } from '../state/store.ts'
import { type EditKind, edit } from './edits.ts'
import { settingsOf } from './links.ts'
import { isOtherThan, leaveRun, makesRoom, setAside } from './stage.ts'
import { openAdapter, takesTurns } from './starting.ts'
import { forgetEdits, sendResting } from './steering.ts'

/** Before another experiment is opened: a run that is over makes room for it, and stays under
 * Runs. */
export function makeRoomFor(experiment: Experiment): void {
  const state = labStore.getState()
  // The other run of a duel may still be on.
  if (takesTurns() || !makesRoom(state, experiment)) return
  const { adapter, run } = state
  setAside(state)
  forgetEdits()
  labStore.setState({ ...emptyRun(), status: adapter ? 'idle' : 'loading', run: run + 1 })
  openAdapter()
}

/** Shows an experiment from elsewhere in the settings, e.g. from a file; a run that is on
 * continues, one that is over makes room. Returns why it was refused, if so. */
export function openExperiment(
  experiment: Experiment,
  name: string,
  preset_id = settingsOf(experiment).preset_id,
): string | undefined {
  const locked = openingLocked()
  if (locked !== undefined) return locked
  open({ experiment, preset_id, notices: [] }, { kind: 'file', name })
  return undefined
}

/** The same for what a lesson or a course has trained: it is asked for by who locked the page. */
export function openTaught(experiment: Experiment, preset_id: string): string | undefined {
  if (isReplaying()) return openingLocked()
  open({ experiment, preset_id, notices: [] }, { kind: 'file', name: 'the lesson' })
  return undefined
}

function open(
  change: Pick<LabState, 'experiment' | 'preset_id' | 'notices'>,
  kind: EditKind,
): void {
  makeRoomFor(change.experiment)
  // What was typed was meant for the run.
  sendResting()
  const state = labStore.getState()
  leaveRun(state)
  edit({ ...change, isBeside: isOtherThan(state, change.experiment) }, kind)
}

/** Shows a preset's experiment in the settings; a run that is on continues, one that is over makes
 * room. False when there is none of that id, or the page is locked. */
export function choosePreset(id: string): boolean {
  const preset = presetOf(id)
  if (!preset || lockedBecause('experiment') !== undefined) return false
  open({ experiment: preset.experiment, preset_id: id, notices: [] }, { kind: 'preset' })
  return true
}
