// A file that could not be opened, for the note about it.
import { createStore } from 'zustand/vanilla'

/** A file that was not opened, and everything that is wrong with it. */
export interface FileProblem {
  readonly name: string
  readonly problems: readonly string[]
}

export const fileStore = createStore<{ readonly problem: FileProblem | undefined }>(() => ({
  problem: undefined,
}))
