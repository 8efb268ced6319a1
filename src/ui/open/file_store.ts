// Keeps files that a person chose somewhere on the page, and one that could not be opened: the
// shell opens them and says so.
import { createStore } from 'zustand/vanilla'

/** A file that was not opened, and everything that is wrong with it. */
export interface FileProblem {
  readonly name: string
  readonly problems: readonly string[]
}

export const fileStore = createStore<{ readonly problem: FileProblem | undefined }>(() => ({
  problem: undefined,
}))

/** Files that are to be opened: another list each time. */
export const chosenStore = createStore<{ readonly files: readonly File[] }>(() => ({ files: [] }))
