// Lets a person choose a run's file, and keeps why one was not imported for the place that asked.
import { createStore } from 'zustand/vanilla'
import { openingLocked } from '../../../page/state/share_store.ts'
import { chosenStore, fileStore } from '../../open/file_store.ts'
import { chooseFile } from '../../open/files.ts'
import type { NoRun } from './no_run.ts'

/** A file that is not imported. */
interface Refused {
  readonly file: File
  readonly offer?: NoRun['offer'] | undefined
  readonly problems: readonly string[]
}

export const refusedStore = createStore<{ readonly refused: Refused | undefined }>(() => ({
  refused: undefined,
}))

const refuse = (refused: Refused | undefined) => refusedStore.setState({ refused })

/** Of several files that are none the first can be opened, and the others are named. */
function refuseToo(file: File, { seems, offer }: NoRun): void {
  const { refused } = refusedStore.getState()
  refuse(
    refused
      ? { ...refused, problems: [...refused.problems, `“${file.name}”: ${seems}`] }
      : { file, problems: [seems], offer },
  )
}

/** Opens the file as whatever it is. */
export function openAnyhow({ file }: Refused): void {
  refuse(undefined)
  chosenStore.setState({ files: [file] })
}

/** Imports the files that are logs as runs, and says beside the button why another is none. */
export async function openRunFiles(files: readonly File[]): Promise<void> {
  const [file] = files
  if (!file) return
  refuse(undefined)
  fileStore.setState({ problem: undefined })
  const locked = openingLocked()
  if (locked !== undefined) return refuse({ file, problems: [locked] })
  // Few people bring a log.
  const { logsIn } = await import('./no_run.ts')
  const logs: File[] = []
  for (const each of files) {
    const found = await logsIn(each)
    if ('logs' in found) logs.push(...found.logs)
    else refuseToo(each, found)
  }
  if (logs.length > 1) return chosenStore.setState({ files: logs })
  const [log] = logs
  if (!log) return
  const { importLog } = await import('../imports/import_log.ts')
  const problems = await importLog(logs, log.name)
  if (problems && problems.length > 0) refuseToo(log, { seems: problems.join(' ') })
}

export const chooseRun = (): void => chooseFile(false, (files) => void openRunFiles(files))
