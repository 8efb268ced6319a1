// Names the shown run in words, for what leaves the page.

import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { cutText } from '../../formats/cut_text.ts'
import { libraryStore, runOf } from '../../page/runs/library/library_store.ts'
import { labStore } from '../../page/state/store.ts'
import { runFileStem } from '../../record/files/file_names.ts'
import { autoName, runName } from '../../record/run/names.ts'
import { shownExperiment } from '../shown/run.ts'
import { recordedInstead, shownStore } from '../shown/shown.ts'
import { openedStore } from './opened_run.ts'

/** Letters, so that the seed has room. */
const MAX_NAME = 50

/** What the files of a run of the list are called: as the run is, and by its experiment where
 * nothing differs in it; of any other run by its experiment. */
export function fileTitle(record: string | undefined, { name }: Experiment): string {
  const entry = record === undefined ? undefined : runOf(record)
  if (!entry || entry.header.source) return name ?? ''
  const { isAutomatic, seedless, words } = runName(entry)
  return isAutomatic && words.length === 0 ? (name ?? '') : seedless
}

const shownRecord = (): string | undefined =>
  openedStore.getState().opened?.id ?? libraryStore.getState().living

/** How the files of the shown run begin. */
export const shownRunStem = (): string => {
  const experiment = shownExperiment(shownStore.getState())
  const name = fileTitle(recordedInstead() ? undefined : shownRecord(), experiment)
  return runFileStem({ name, seed: experiment.seed })
}

/** '“GRPO, lr 0.0003”, seed 1, from “Reverse six digits”'. */
export function shownRunWords(): string {
  const recorded = recordedInstead()
  if (recorded)
    return `a recording of “${cutText(shownExperiment(recorded).name ?? 'unnamed', MAX_NAME)}”`
  const id = shownRecord()
  const entry = id === undefined ? undefined : runOf(id)
  const experiment = shownExperiment(shownStore.getState())
  const { name, from } = entry
    ? runName(entry)
    : autoName(experiment, labStore.getState().preset_id)
  // A log does not say with which seed its run began.
  if (entry?.header.source) return `“${cutText(name, MAX_NAME)}”`
  const words = `“${cutText(name, MAX_NAME)}”, seed ${experiment.seed}`
  return name === from ? words : `${words}, from “${from}”`
}
