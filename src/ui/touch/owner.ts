// Says whose numbers the files of an experiment hold: those of the run that the page shows.
import { runFileStem } from '../../record/files/file_names.ts'
import { shownRunWords } from '../open/shown_run.ts'
import type { Owner } from '../plot/files/SaveAs.tsx'
import { shownExperiment } from '../shown/run.ts'
import { shownStore } from '../shown/shown.ts'

export const ownerOfShown = (): Owner => ({
  words: shownRunWords(),
  stem: runFileStem(shownExperiment(shownStore.getState())),
})
