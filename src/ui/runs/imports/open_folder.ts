// Opens several files, or a folder, that a person drops or chooses: a log, the answers of
// validations, a model or an adapter.
import { LogError } from '../../../jobs/logs/base/imported_log.ts'
import { type FolderLog, folderLogs, foundLogs, looseLogs } from '../../../jobs/logs/log_files.ts'
import { foreignWeights } from '../../kit/foreign.ts'
import { filesAtTop, folderName } from '../../open/models/folder.ts'
import { modelKind, openModelFiles } from '../../tokens/model/model_files.ts'
import { importFolder } from './import_log.ts'

const isInFolder = ({ webkitRelativePath }: File): boolean =>
  (webkitRelativePath ?? '').includes('/')

/** The logs of a folder; of files that are in none, each by itself, but for those that a folder
 * would hold together. */
function logsOf(all: readonly File[], paths: readonly string[], name: string): FolderLog[] {
  if (all.some(isInFolder)) return folderLogs(paths, name)
  const together = foundLogs(paths)
  const taken = together.flatMap(({ files }) => files)
  const loose = looseLogs(paths.filter((path) => !taken.includes(path)))
  if (loose.length === 0) return folderLogs(paths, name)
  return [
    ...together.map((log) => ({ ...log, run: log.run || log.files[0].replace(/\.\w+$/, '') })),
    ...loose,
  ]
}

/** The folders that were dropped or chosen, of which files know their path. */
const foldersOf = (files: readonly File[]): ReadonlySet<string> =>
  new Set(
    files.filter(isInFolder).map(({ webkitRelativePath }) => webkitRelativePath.split('/')[0]),
  )

/** Its path below the folder; of several folders with the name of its own. */
const pathOf = (file: File, isOfSeveral: boolean): string =>
  (file.webkitRelativePath ?? '')
    .split('/')
    .slice(isOfSeveral ? 0 : 1)
    .join('/') || file.name

/** Files by a path that no other has: of those of one name from several folders, which no browser
 * tells, each after the first has a folder of its own. */
function byPath(files: readonly File[]): ReadonlyMap<string, File> {
  const found = new Map<string, File>()
  const isOfSeveral = foldersOf(files).size > 1
  for (const file of files) {
    const path = pathOf(file, isOfSeveral)
    let own = path
    for (let n = 2; found.has(own); n++) own = `${path.replace(/\.[^.]*$/, '')} #${n}/${path}`
    found.set(own, file)
  }
  return found
}

/** Opens what the files are together; what is wrong with them where they are nothing that is
 * known. */
export async function openFolder(
  all: readonly File[],
  of = folderName(all),
): Promise<{ readonly name: string; readonly problems: readonly string[] } | undefined> {
  const files = filesAtTop(all)
  const { size } = foldersOf(all)
  const name = size > 1 ? `${size} folders` : of
  try {
    if (modelKind(files)) {
      const problem = openModelFiles(name, files)
      return problem === undefined ? undefined : { name, problems: [problem] }
    }
    const paths = byPath(all)
    const logs = logsOf(all, [...paths.keys()], name)
    const [{ files: only }] = logs
    const called =
      logs.length === 1 && only.length === 1 ? (only[0].split('/').at(-1) ?? name) : name
    const problems = await importFolder(logs, called, (path) => paths.get(path) as File)
    return problems.length > 0 ? { name, problems } : undefined
  } catch (error) {
    if (error instanceof LogError)
      return { name, problems: [(await foreignWeights(files)) ?? error.message] }
    throw error
  }
}
