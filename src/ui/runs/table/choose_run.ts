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

/** Opens the file as whatever it is. */
export function openAnyhow({ file }: Refused): void {
  refuse(undefined)
  chosenStore.setState({ files: [file] })
}

/** Imports the files as runs, or says beside the button what is in the way. */
export async function openRunFiles(files: readonly File[]): Promise<void> {
  const [file] = files
  if (!file) return
  refuse(undefined)
  fileStore.setState({ problem: undefined })
  const locked = openingLocked()
  if (locked !== undefined) return refuse({ file, problems: [locked] })
  // Few people bring a log.
  const { noRun } = await import('./no_run.ts')
  for (const each of files) {
    const no = await noRun(each)
    if (no) return refuse({ file: each, problems: [no.seems], offer: no.offer })
  }
  if (files.length > 1) return chosenStore.setState({ files })
  const { importLog } = await import('../imports/import_log.ts')
  const problems = await importLog(files, file.name)
  if (problems && problems.length > 0) refuse({ file, problems })
}

export const chooseRun = (): void => chooseFile(false, (files) => void openRunFiles(files))
