// The shown run in words: for what leaves the page.
import { libraryStore, runOf } from '../../lab/runs/library.ts'
import { autoName, runName } from '../../lab/runs/names.ts'
import { labStore } from '../../lab/store.ts'
import { shownExperiment } from '../run.ts'
import { shownStore } from '../shown.ts'
import { openedStore } from './opened.ts'

/** '“lr 0.001 → 3e-4” from Reverse six digits, seed 1'. */
export function shownRunWords(): string {
  const { opened } = openedStore.getState()
  const id = opened?.id ?? libraryStore.getState().living
  const entry = id === undefined ? undefined : runOf(id)
  const experiment = shownExperiment(shownStore.getState())
  const { name, from } = entry
    ? runName(entry)
    : autoName(experiment, labStore.getState().preset_id)
  const what = name === from ? `“${name}”` : `“${name}”, from ${from}`
  return `${what}, seed ${experiment.seed}`
}
