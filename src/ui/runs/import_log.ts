// A log of another trainer that a person drops or chooses: it becomes a run of the list.
import { version } from '../../../package.json'
import { LogError } from '../../lab/jobs/logs/imported_log.ts'
import { importedRun } from '../../lab/jobs/logs/imported_run.ts'
import type { Pieces } from '../../lab/jobs/logs/lines.ts'
import { HEAD_BYTES, logKind, readLog } from '../../lab/jobs/logs/read_log.ts'
import { keepRun } from '../../lab/runs/library/library.ts'
import { storageProblem } from '../../lab/runs/storage/storage.ts'
import { showToast } from '../base/store.ts'

/** The bytes of a file, piece by piece. */
async function* piecesOf(file: File): Pieces {
  const reader = file.stream().getReader()
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
}

/**
 * Imports a log, of one file or several; `name` is the run's. What is wrong with it, a sentence each; undefined for files that are no
 * log.
 */
export async function importLog(
  files: readonly File[],
  name: string,
): Promise<readonly string[] | undefined> {
  try {
    const [first] = files
    const head = new Uint8Array(await first.slice(0, HEAD_BYTES).arrayBuffer())
    const kind = logKind(first.name, head)
    if (!kind) return undefined
    const log = await readLog(
      kind,
      files.map((file) => ({ name: file.name, pieces: () => piecesOf(file) })),
    )
    const id = crypto.randomUUID()
    const write = importedRun(name, log, { id, now: Date.now(), version })
    try {
      await keepRun(write)
    } catch (error) {
      return [storageProblem(error)]
    }
    showToast([`Imported ${name}: ${log.step} steps.`, ...log.remarks].join(' '))
    return []
  } catch (error) {
    if (error instanceof LogError) return [error.message]
    return ['The browser could not read it.']
  }
}
