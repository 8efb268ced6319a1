// Lets a person choose a run's file. A program is none: opened, it would become the reward of the
// settings, which nobody sees from here.

import { chosenStore, fileStore } from '../../open/file_store.ts'
import { chooseFile } from '../../open/files.ts'

const PROGRAM = /\.(js|mjs|py)$/i

/** Opens the files, or says which of them is a program. */
export function openRunFiles(files: readonly File[]): void {
  const program = files.find(({ name }) => PROGRAM.test(name))
  if (!program) return chosenStore.setState({ files })
  const problems = [
    'It is a program, not a run. To score answers with it, drop it on the page, or press “Compose…” beside Reward in the settings.',
  ]
  fileStore.setState({ problem: { name: program.name, problems } })
}

export const chooseRun = (): void => chooseFile(false, openRunFiles)
