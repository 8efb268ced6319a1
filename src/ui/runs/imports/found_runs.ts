// Keeps the runs that an opened file or folder holds, while a person is asked which of them to
// keep.
import { createStore } from 'zustand/vanilla'
import { closeDialog, dialogStore, showDialog } from '../../open/dialogs.ts'

/** A run as it was found. */
export interface FoundRun {
  readonly run: string
  readonly step: number
  readonly metrics: number
}

interface FoundRuns {
  /** Of the file or folder. */
  readonly name: string
  readonly runs: readonly FoundRun[]
  answer(chosen: readonly number[]): void
}

export const foundRunsStore = createStore<{ readonly found: FoundRuns | undefined }>(() => ({
  found: undefined,
}))

/** Resolves with the indices of the chosen runs; with none where the dialog is closed. */
export function askWhichRuns(name: string, runs: readonly FoundRun[]): Promise<readonly number[]> {
  return new Promise((resolve) => {
    const answer = (chosen: readonly number[]) => {
      stop()
      foundRunsStore.setState({ found: undefined })
      closeDialog('found-runs')
      resolve(chosen)
    }
    showDialog('found-runs')
    const stop = dialogStore.subscribe(({ open }) => {
      if (open !== 'found-runs') answer([])
    })
    foundRunsStore.setState({ found: { name, runs, answer } })
  })
}
