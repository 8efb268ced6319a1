// Imports logs of other trainers that a person drops or chooses: each run in them becomes one of
// the list, and the page shows it.
import { version } from '../../../../package.json'
import { type ImportedLog, LogError } from '../../../jobs/logs/base/imported_log.ts'
import type { Pieces } from '../../../jobs/logs/base/lines.ts'
import { importedRun } from '../../../jobs/logs/imported_run.ts'
import type { FolderLog } from '../../../jobs/logs/log_files.ts'
import { HEAD_BYTES, logReader, readLogs } from '../../../jobs/logs/read_log.ts'
import { metricCount } from '../../../jobs/logs/text/step_column.ts'
import { keepRun } from '../../../page/runs/library/library.ts'
import { libraryStore, type RunEntry, runOf } from '../../../page/runs/library/library_store.ts'
import { type RunWrite, storageProblem } from '../../../record/run/storage.ts'
import { formatSteps } from '../../kit/format.ts'
import { showRun } from '../../open/opened_run.ts'
import { calledName } from '../../shown/names/called.ts'
import { openTab, showToast } from '../../shown/store.ts'
import { tickOnly } from '../base/selection.ts'
import { askWhichRuns, type FoundRun } from './found_runs.ts'

/** The bytes of a file, piece by piece. */
async function* piecesOf(file: File): Pieces {
  const reader = file.stream().getReader()
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
}

/** The runs of a log, of one file or several; undefined for files that are no log. Throws
 * LogError. */
async function readFiles(files: readonly File[]): Promise<readonly ImportedLog[] | undefined> {
  const [first] = files
  const head = new Uint8Array(await first.slice(0, HEAD_BYTES).arrayBuffer())
  const reader = logReader(first.name, head)
  return reader
    ? readLogs(
        reader,
        files.map((file) => ({ name: file.name, pieces: () => piecesOf(file) })),
      )
    : undefined
}

/** What went wrong, in sentences. */
const problemOf = (error: unknown): readonly string[] => [
  error instanceof LogError ? error.message : 'The browser could not read it.',
]

/** Whether a run of the list has the same numbers, whatever its file is called. */
const isSameLog = ({ header }: Pick<RunEntry, 'header'>, { header: other }: RunWrite): boolean =>
  header.source?.kind === other.source?.kind &&
  header.step === other.step &&
  JSON.stringify(header.summaries) === JSON.stringify(other.summaries)

/** A log, and the file that it is of, where there are several. */
interface FoundLog extends ImportedLog {
  readonly file?: string
}

/** Keeps runs and shows the first of them; `name` is that of a run that has none of its own,
 * `refused` what was left out beside them. Resolves with what is wrong, in sentences. */
async function keepLogs(
  logs: readonly FoundLog[],
  name: string,
  refused: readonly string[],
): Promise<readonly string[]> {
  const ids: string[] = []
  const said: string[] = []
  for (const log of logs) {
    const id = crypto.randomUUID()
    const { file = name } = log
    const run = importedRun(log.run || name, log, { id, now: Date.now(), version, file })
    const before = libraryStore.getState().entries.find((entry) => isSameLog(entry, run))
    try {
      await keepRun(run)
    } catch (error) {
      return [storageProblem(error)]
    }
    ids.push(id)
    said.push(`Imported ${log.run || name}: ${formatSteps(log.step)}.`)
    const entry = runOf(id)
    if (before && entry)
      said.push(
        `The same data is here already, as “${calledName(before)}”; this one is called “${calledName(entry)}”.`,
      )
    said.push(...log.remarks)
  }
  if (refused.length > 0) said.push(`Left out: ${refused.join(' ')}`)
  showToast(said.join(' '))
  await showRun(ids[0])
  if (ids.length > 1) tickOnly(ids)
  openTab(ids.length > 1 ? 'runs' : 'learn')
  return []
}

/** The runs as a person is asked for them, those of one name numbered. */
function askedRuns(logs: readonly FoundLog[], name: string): readonly FoundRun[] {
  const counts = new Map<string, number>()
  return logs.map(({ run, step, series }) => {
    const called = run || name
    const n = (counts.get(called) ?? 0) + 1
    counts.set(called, n)
    return { run: n > 1 ? `${called} #${n}` : called, step, metrics: metricCount(series.keys()) }
  })
}

/** Keeps the only run, or asks which of several. */
async function keepChosen(
  logs: readonly FoundLog[],
  name: string,
  refused: readonly string[] = [],
): Promise<readonly string[]> {
  if (logs.length < 2) return keepLogs(logs, name, refused)
  const chosen = await askWhichRuns(name, askedRuns(logs, name))
  return chosen.length === 0
    ? []
    : keepLogs(
        logs.filter((_, i) => chosen.includes(i)),
        name,
        refused,
      )
}

/** Imports a log, of one file or several; `name` is the run's. What is wrong with it, a sentence
 * each; undefined for files that are no log. */
export async function importLog(
  files: readonly File[],
  name: string,
): Promise<readonly string[] | undefined> {
  try {
    const logs = await readFiles(files)
    return logs && (await keepChosen(logs, name))
  } catch (error) {
    return problemOf(error)
  }
}

/** Imports the logs of a folder. `fileOf`: the file of a path below it. */
export async function importFolder(
  found: readonly FolderLog[],
  name: string,
  fileOf: (path: string) => File,
): Promise<readonly string[]> {
  const logs: FoundLog[] = []
  const refused: string[] = []
  for (const { run, files, remark } of found)
    try {
      const own = await readFiles(files.map(fileOf))
      if (!own) {
        refused.push(`${run || name}: it is no log.`)
        continue
      }
      for (const log of own) {
        const called = own.length > 1 ? `${run || name}, ${log.run}` : run || name
        logs.push({
          ...log,
          run: found.length > 1 ? called : log.run,
          file: files.length === 1 ? fileOf(files[0]).name : run || name,
          remarks: [...(remark ? [remark] : []), ...log.remarks],
        })
      }
    } catch (error) {
      refused.push(`${run || name}: ${problemOf(error).join(' ')}`)
    }
  if (logs.length === 0) return refused
  return keepChosen(logs, name, refused)
}
