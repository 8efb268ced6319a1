// Several files, or a folder, that a person drops or chooses: a log, the answers of validations, a model or an adapter.
import { LogError } from '../../lab/jobs/logs/imported_log.ts'
import { logFiles } from '../../lab/jobs/logs/log_files.ts'
import { modelKind, openModelFiles } from '../tokens/model/model_files.ts'
import { importLog } from './import_log.ts'

/** The name of the folder where there is one. */
function nameOf(files: readonly File[]): string {
  const [folder, ...below] = (files[0].webkitRelativePath ?? '').split('/')
  return below.length > 0 ? folder : `${files.length} files`
}

/** Files of the folder itself: one below it may be a model of its own, as a critic's is. */
const atTop = (file: File): boolean => (file.webkitRelativePath ?? '').split('/').length <= 2

/** Opens what the files are together; what is wrong with them where they are nothing that is known. */
export async function openFolder(
  all: readonly File[],
  name = nameOf(all),
): Promise<{ readonly name: string; readonly problems: readonly string[] } | undefined> {
  const files = all.filter(atTop)
  try {
    if (modelKind(files)) {
      const problem = openModelFiles(name, files)
      return problem === undefined ? undefined : { name, problems: [problem] }
    }
    const names = logFiles(
      files.map((file) => file.name),
      name,
    )
    const log = names.flatMap((known) => files.find((file) => file.name === known) ?? [])
    const problems = (await importLog(log, log.length > 1 ? name : log[0].name)) ?? []
    return problems.length > 0 ? { name, problems } : undefined
  } catch (error) {
    if (error instanceof LogError) return { name, problems: [error.message] }
    throw error
  }
}
