// Says whose numbers the files of an experiment hold: those of the run that the page shows.
import { shownRunStem, shownRunWords } from '../open/shown_run.ts'
import type { Owner } from '../plot/files/SaveAs.tsx'

export const ownerOfShown = (): Owner => ({
  words: shownRunWords(),
  stem: shownRunStem(),
})
