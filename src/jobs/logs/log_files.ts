// Finds the logs of a folder by the names of its files, and puts together those that belong
// together.

import { LogError } from './base/imported_log.ts'
import { CAN_IMPORT } from './base/log_kinds.ts'
import { isGenerationsFile } from './read_log.ts'

/** What a folder of a run, or of a checkpoint of TRL, holds its log in. */
const LOG_NAMES = ['metrics.jsonl', 'trainer_state.json']
/** A folder in which TRL keeps a checkpoint. */
const CHECKPOINT = /^(?:(.*)\/)?checkpoint-(\d+)$/

/** A log of a folder. */
export interface FolderLog {
  /** The folder below the named one that it is of; '' for the folder itself. */
  readonly run: string
  /** Paths below the named folder. */
  readonly files: readonly string[]
  /** What was chosen among several, in a sentence. */
  readonly remark?: string
}

/** The files of one folder that are its log; undefined where there is none. `all`: their names. */
function logOf(all: readonly string[]): readonly string[] | undefined {
  const log = LOG_NAMES.find((name) => all.includes(name))
  if (log) return [log]
  const generations = all.filter(isGenerationsFile)
  if (generations.length > 0) return generations
  // A run that was resumed has an event file for every start; their names begin with the time.
  const events = all.filter((name) => name.includes('tfevents')).sort()
  return events.length > 0 ? events : undefined
}

/** Names of files by the folder that they are in. */
function byFolder(paths: readonly string[]): Map<string, string[]> {
  const folders = new Map<string, string[]>()
  for (const path of paths) {
    const at = path.lastIndexOf('/')
    const folder = path.slice(0, Math.max(0, at))
    folders.set(folder, [...(folders.get(folder) ?? []), path.slice(at + 1)])
  }
  return folders
}

/** Of the checkpoints of a run only the newest has its whole log. */
function newestCheckpoints(logs: readonly FolderLog[]): FolderLog[] {
  const newest = new Map<
    string,
    { readonly log: FolderLog; readonly step: number; readonly of: number }
  >()
  const others: FolderLog[] = []
  for (const log of logs) {
    const [whole, run = '', step] = CHECKPOINT.exec(log.run) ?? []
    if (whole === undefined) {
      others.push(log)
      continue
    }
    const known = newest.get(run)
    const of = (known?.of ?? 0) + 1
    newest.set(
      run,
      known && known.step > Number(step) ? { ...known, of } : { log, step: Number(step), of },
    )
  }
  const own = new Set(others.map(({ run }) => run))
  const kept = [...newest].filter(([run]) => !own.has(run))
  return [
    ...others,
    ...kept.map(([run, { log, step, of }]) => ({
      run,
      files: log.files,
      remark: `Read from checkpoint-${step}, the newest of ${of} in the folder.`,
    })),
  ]
}

/** The logs of a folder and of those below it, one for each folder that has one. `paths`: of its
 * files, below it, with slashes. */
export function foundLogs(paths: readonly string[]): FolderLog[] {
  const found = [...byFolder(paths)].flatMap(([run, names]): FolderLog[] => {
    const files = logOf(names)
    return files
      ? [{ run, files: files.map((name) => (run === '' ? name : `${run}/${name}`)) }]
      : []
  })
  return newestCheckpoints(found).sort((a, b) => (a.run < b.run ? -1 : 1))
}

/** The same of a folder of this name. Throws LogError where there is none. */
export function folderLogs(paths: readonly string[], folder: string): FolderLog[] {
  const logs = foundLogs(paths)
  if (logs.length === 0) throw new LogError(`${folder}: there is no log in it. ${CAN_IMPORT}`)
  return logs
}

/** What is no log of a folder by its name, and may be one by itself. */
const LOOSE = /\.(json|jsonl|ndjson|csv|tsv|log|out|txt|err)$/i

/** Files that are in no folder together, such as the exports of several runs: each a log of its
 * own, by its name, or the folder that tells it from another of its name. None of files that are
 * named otherwise. */
export const looseLogs = (names: readonly string[]): FolderLog[] =>
  names
    .filter((name) => LOOSE.test(name))
    .map((name) => ({ run: name.replace(/\/.*/, '').replace(LOOSE, ''), files: [name] }))

/** What a folder holds, for a sentence. */
const listOfRuns = (runs: readonly string[]): string =>
  runs.map((run) => (run === '' ? 'the folder itself' : run)).join(', ')

/** The logs of the runs that were asked for, all where none was. Throws LogError for a name that is
 * not there. */
export function chosenRuns<T extends { readonly run: string }>(
  all: readonly T[],
  names: readonly string[],
): readonly T[] {
  const runs = all.map(({ run }) => run)
  const unknown = names.find((name) => !runs.includes(name))
  if (unknown !== undefined)
    throw new LogError(`there is no run “${unknown}” in it. The runs are: ${listOfRuns(runs)}`)
  return names.length === 0 ? all : all.filter(({ run }) => names.includes(run))
}
