// Saves and opens bundles: an experiment with every file that it names, as one .zip.

import { everyIssue } from '../../document/experiment/every_issue.ts'
import { parseExperiment } from '../../document/experiment/experiment.ts'
import { writeBundle } from '../../host/content/bundle.ts'
import { openExperiment } from '../../page/client/opening.ts'
import { keepContent, unpackBundle } from '../../page/contents/content_files.ts'
import { contentsOf } from '../../page/contents/here.ts'
import { repeatedExperiment } from '../../page/state/next_experiment.ts'
import { labStore } from '../../page/state/store.ts'
import { runFileStem } from '../../record/files/file_names.ts'
import { saveFile } from '../kit/save.ts'
import { closePast } from '../open/opened_run.ts'
import { showToast } from '../shown/store.ts'

/** Opens a bundle in the settings and keeps its files. What is wrong with it, a sentence each; none
 * where it was opened. */
export async function openBundle(file: File): Promise<readonly string[]> {
  try {
    const { document, files } = await unpackBundle(file)
    const parsed = parseExperiment(document)
    if (!parsed.ok)
      return everyIssue(document, parsed.issues).map(({ path, message }) =>
        path ? `${path}: ${message}` : message,
      )
    for (const content of files) await keepContent(content)
    const refused = openExperiment(parsed.experiment, file.name)
    if (refused !== undefined) return [refused]
    closePast()
    showToast(`Opened ${file.name}. Undo brings the settings back.`)
    return []
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}

/** Saves the document that repeats what the settings show, with its files. */
export function saveBundle(): void {
  const experiment = repeatedExperiment(labStore.getState())
  const files = contentsOf(experiment)
  if (!files) return showToast('A file of this experiment is missing, so there is no bundle of it.')
  const bytes = writeBundle(experiment, files)
  saveFile(`${runFileStem(experiment)}.zip`, new Blob([bytes], { type: 'application/zip' }))
}
