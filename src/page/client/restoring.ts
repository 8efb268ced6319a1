// Puts settings back that an undo or a redo asks for, with the run that they were on the page with.

import { sameSettings } from '../../document/experiment/experiment.ts'
import { isBusy } from '../../record/run/run_parts.ts'
import { type LabState, labStore } from '../state/store.ts'
import { makeRoomFor } from './opening.ts'
import { replaced, type Settings, type Stage } from './stage.ts'
import { sendEdit, sendResting } from './steering.ts'

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** The run that comes back with these settings, and them: no other run has been on the page
 * since. */
const comesBack = (state: LabState, settings: Settings): (Settings & Stage) | undefined =>
  replaced.aside && !state.runExperiment && isSame(replaced.aside.settings, settings)
    ? { ...replaced.aside.settings, ...replaced.aside.stage }
    : undefined

/** Settings that an undo or a redo brings back in the place of another experiment: those of the run
 * on the page are what it has become meanwhile, and all others are beside it. */
function asLeft({ runExperiment }: LabState, { experiment, preset_id }: Settings): Settings {
  const own = replaced.settings.find(
    ({ settings }) =>
      settings.preset_id === preset_id && sameSettings(settings.experiment, experiment),
  )
  const isBeside = runExperiment !== undefined && own === undefined
  return { experiment: (own?.wasOfRun && runExperiment) || experiment, preset_id, isBeside }
}

/** Puts the settings back to what they were; a run that is on follows in the field `path`, where it
 * can. `isOther`: another experiment had been opened, so that a run that made room comes back. */
export function restoreSettings(
  settings: Settings,
  path: string | undefined,
  isOther = false,
): void {
  const back = isOther ? comesBack(labStore.getState(), settings) : undefined
  if (isOther && !back) makeRoomFor(settings.experiment)
  const isExchanged = isOther || settings.isBeside !== labStore.getState().isBeside
  if (isExchanged) sendResting()
  const shown = isExchanged ? asLeft(labStore.getState(), settings) : settings
  labStore.setState({ ...(back ?? shown), wrongFields: [] })
  if (path !== undefined && isBusy(labStore.getState())) sendEdit(path)
}
