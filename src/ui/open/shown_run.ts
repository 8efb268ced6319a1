// Names the shown run in words, for what leaves the page.

import { cutText } from '../../formats/cut_text.ts'
import { libraryStore, runOf } from '../../page/runs/library/library_store.ts'
import { labStore } from '../../page/state/store.ts'
import { autoName, runName } from '../../record/run/names.ts'
import { shownExperiment } from '../shown/run.ts'
import { recordedInstead, shownStore } from '../shown/shown.ts'
import { openedStore } from './opened_run.ts'

/** Letters, so that the seed has room. */
const MAX_NAME = 50

/** '“GRPO, lr 0.0003”, seed 1, from Reverse six digits'. */
export function shownRunWords(): string {
  const recorded = recordedInstead()
  if (recorded)
    return `a recording of “${cutText(shownExperiment(recorded).name ?? 'unnamed', MAX_NAME)}”`
  const { opened } = openedStore.getState()
  const id = opened?.id ?? libraryStore.getState().living
  const entry = id === undefined ? undefined : runOf(id)
  const experiment = shownExperiment(shownStore.getState())
  const { name, from } = entry
    ? runName(entry)
    : autoName(experiment, labStore.getState().preset_id)
  // A log does not say with which seed its run began.
  if (entry?.header.source) return `“${cutText(name, MAX_NAME)}”`
  const words = `“${cutText(name, MAX_NAME)}”, seed ${experiment.seed}`
  return name === from ? words : `${words}, from ${from}`
}
