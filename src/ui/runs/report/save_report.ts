// Writes the report of chosen runs for the person at the page.

import { libraryStore, type RunEntry } from '../../../page/runs/library/library_store.ts'
import { labStore } from '../../../page/state/store.ts'
import { saveFile } from '../../kit/save.ts'
import { zipOf } from '../../kit/zip.ts'
import { distinctNames } from '../../shown/names/distinct_names.ts'
import { showToast } from '../../shown/store.ts'
import { allRuns, columnsOfPast } from '../base/all_runs.ts'
import { MAX_AVERAGED, selectionStore } from '../base/selection.ts'
import type { ReportRun } from './report_runs.ts'
import { runReport } from './run_report.ts'

const FOLDER = 'understory-report'

/** A run with its columns; those of the living one are on the page. */
async function withColumns(entry: RunEntry): Promise<ReportRun> {
  const isLiving = entry.id === libraryStore.getState().living
  return { entry, columns: isLiving ? labStore.getState().series : await columnsOfPast(entry.id) }
}

/** A .zip with report.md and its pictures. `said`: what the page says above the runs. */
export async function saveReport(
  entries: readonly RunEntry[],
  said: string | undefined,
): Promise<void> {
  try {
    const runs = await Promise.all(entries.slice(0, MAX_AVERAGED).map(withColumns))
    const address = location.href.replace(/[?#].*$/s, '')
    const { view, band } = selectionStore.getState()
    const names = distinctNames(allRuns())
    const files = [...runReport(runs, { ...view, band, said, names }, address)].map(
      ([path, text]) => ({
        path,
        pieces: [new TextEncoder().encode(text)],
      }),
    )
    saveFile(`${FOLDER}.zip`, await zipOf(FOLDER, files))
    const of = runs.length < entries.length ? `, of the first ${runs.length} runs` : ''
    const pictures = files.filter(({ path }) => path.endsWith('.svg')).length
    showToast(
      `Saved ${FOLDER}.zip: report.md and ${pictures} ${pictures === 1 ? 'picture' : 'pictures'}${of}`,
    )
  } catch (error) {
    showToast(`The report could not be made: ${error instanceof Error ? error.message : error}`)
  }
}
