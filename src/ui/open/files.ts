// Lets a person choose files, and saves what the page makes as files.
import { thinnedOf, thinnedWords } from '../../host/columns/thinning.ts'
import { repeatedExperiment } from '../../page/state/next_experiment.ts'
import { labStore } from '../../page/state/store.ts'
import { metricsFileName, runFileStem } from '../../record/files/file_names.ts'
import { saveFile } from '../kit/save.ts'
import { presentStore } from '../shown/shown.ts'
import { showToast } from '../shown/store.ts'
import { chosenStore } from './file_store.ts'

const ACCEPTED =
  '.json,application/json,.safetensors,.jsonl,.tfevents,.csv,.tsv,.parquet,.txt,.zip,.js,.mjs,.py'

const openChosen = (files: readonly File[]): void => chosenStore.setState({ files })

/** Lets the person choose files, or a folder; `take` gets them in place of what opens any files. */
export function chooseFile(isFolder = false, take = openChosen): void {
  const input = document.createElement('input')
  input.type = 'file'
  input.multiple = true
  input.webkitdirectory = isFolder
  if (!isFolder) input.accept = ACCEPTED
  input.addEventListener('change', () => take([...(input.files ?? [])]))
  input.click()
}

/** The document that repeats what the settings show; while they are the run's, with all that was
 * done to it. */
export function saveExperiment(): void {
  const experiment = repeatedExperiment(labStore.getState())
  const text = `${JSON.stringify(experiment, null, 2)}\n`
  const name = `${runFileStem(experiment)}.experiment.json`
  saveFile(name, new Blob([text], { type: 'application/json' }))
}

/** What a browser is told of files of numbers. */
export const TYPES = { csv: 'text/csv', jsonl: 'application/jsonl' } as const

/** Every metric of the shown run; where rows are no longer kept, the name of the file and a toast
 * say so. */
export async function saveMetrics(extension: keyof typeof TYPES): Promise<void> {
  const { metricsCsv, metricsJsonl } = await import('../../record/files/metrics_file.ts')
  const { shownRunStem } = await import('./shown_run.ts')
  const write = extension === 'csv' ? metricsCsv : metricsJsonl
  const state = presentStore.getState()
  const thinned = thinnedOf(state.series.values())
  const name = metricsFileName(shownRunStem(), extension, thinned !== undefined)
  saveFile(name, new Blob([write(state.series)], { type: TYPES[extension] }))
  if (thinned) showToast(`Saved ${name}. ${thinnedWords(thinned)}`)
}
