// Puts the settings of a run of the list into the form.
import { openExperiment } from '../../page/client/opening.ts'
import { runOf } from '../../page/runs/library/library_store.ts'
import { setNextParent } from '../../page/runs/recorder/parent.ts'
import { labStore } from '../../page/state/store.ts'
import { runName } from '../../record/run/names.ts'
import { selectIsBusy } from '../shown/run.ts'
import { showToast } from '../shown/store.ts'

/** Puts the document of a run into the settings, so that Train does it again. What was done to it
 * by hand comes along where no run is on: a run that is over gives way, and stays in the list.
 * Returns whether they are taken; where not, a message says why. */
export function takeSettings(id: string): boolean {
  const entry = runOf(id)
  if (!entry) return false
  const { document, preset_id } = entry.header
  const isBusy = selectIsBusy(labStore.getState())
  const { name } = runName(entry)
  const changes = document.steering.length
  const refused = openExperiment(document, `the settings of “${name}”`, preset_id)
  if (refused !== undefined) {
    showToast(refused)
    return false
  }
  setNextParent(id)
  const leftOut =
    changes > 0 && isBusy
      ? ' The changes made to it by hand are left out while a run is in progress: reset first to include them.'
      : ''
  showToast(`The settings are those of “${name}”.${leftOut}`)
  return true
}
