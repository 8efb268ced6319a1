// Holds what may be continued: a run that its page left, or a file that was opened. Continuing is
// loaded with the list of runs.
import { createStore } from 'zustand/vanilla'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import type { Peeked } from '../../../host/checkpoints/file/peek.ts'

/** A run that its page left unfinished, and the newest of its checkpoints. */
export interface Left {
  readonly id: string
  readonly step: number
  /** Milliseconds since 1970. */
  readonly at: number
}

/** A file that a person opened. */
export interface Offered {
  readonly file: File
  readonly peeked: Peeked
  readonly experiment: Experiment
}

export const offersStore = createStore<{
  readonly left: Left | undefined
  readonly offered: Offered | undefined
}>(() => ({ left: undefined, offered: undefined }))
