// lab export --to notebook: writes the metrics of a run, or of any log that can be imported, as a
// table with a notebook that draws them.
import { basename, resolve } from 'node:path'
import { version } from '../../../package.json'
import { metricsExport } from '../../jobs/notebooks/metrics_notebook.ts'
import { print, tell } from '../base/terminal.ts'
import { readOneRun } from '../logs/log_source.ts'
import { refuseFolder, writeFolder } from '../output/file_folder.ts'

/** Writes `folder`. Throws LabFailure, or JobError for a run without metrics. */
export async function exportNotebook(
  source: string,
  folder: string,
  force: boolean,
): Promise<void> {
  refuseFolder(folder, force)
  const log = await readOneRun(source)
  for (const remark of log.remarks) tell(remark)
  const title = log.run === '' ? basename(resolve(source)) : log.run
  writeFolder(folder, metricsExport({ series: log.series, title, understory: version }))
  print(`Wrote ${folder}: ${log.step} steps, ${log.series.size} metrics`)
  print('Open metrics.ipynb in Jupyter or Colab: it reads metrics.csv with pandas.')
}
