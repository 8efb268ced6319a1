// Opens the dialog that takes a model or a job out of the lab.
import { createStore } from 'zustand/vanilla'
import { showDialog } from './dialogs.ts'

/** A run of the list, and one of its checkpoints. */
export interface Wanted {
  readonly record: string
  readonly step?: number
}

/** What the dialog opens with; undefined = the shown run. */
export const wantedStore = createStore<{ readonly wanted: Wanted | undefined }>(() => ({
  wanted: undefined,
}))

export function openExport(wanted?: Wanted): void {
  wantedStore.setState({ wanted })
  showDialog('export')
}
