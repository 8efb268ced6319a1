// Holds all runs of this browser, as the page shows them. What is done with them is in library.ts,
// which the first look at the page does not need.
import { createStore } from 'zustand/vanilla'
import type { RunHeader, RunLabels } from '../../../record/run/record.ts'

export interface RunEntry {
  readonly id: string
  readonly header: RunHeader
  readonly labels: RunLabels
}

/** A record that is there and cannot be understood. */
export interface BrokenEntry {
  readonly id: string
  readonly why: string
}

export interface Library {
  readonly isReady: boolean
  /** Why runs are forgotten with the page; '' where they are kept. */
  readonly whyMemory: string
  /** Why the newest write failed; '' when all is well. */
  readonly problem: string
  /** Newest first. */
  readonly entries: readonly RunEntry[]
  readonly broken: readonly BrokenEntry[]
  /** Deleted, and not yet gone: until this page is left they can be brought back. */
  readonly deleted: readonly string[]
  /** Those of them that were deleted just now. */
  readonly justDeleted: readonly string[]
  /** The record of the current run. */
  readonly living: string | undefined
  /** Bytes of this page's origin, where the browser tells. */
  readonly storage: { readonly usage: number; readonly quota: number } | undefined
}

/** What a page knows before it has looked. */
export const EMPTY_LIBRARY: Library = {
  isReady: false,
  whyMemory: '',
  problem: '',
  entries: [],
  broken: [],
  deleted: [],
  justDeleted: [],
  living: undefined,
  storage: undefined,
}

export const libraryStore = createStore<Library>(() => EMPTY_LIBRARY)

export const runOf = (id: string): RunEntry | undefined =>
  libraryStore.getState().entries.find((entry) => entry.id === id)

/** Runs that are not deleted. */
let shown: { of: Library; entries: readonly RunEntry[] } | undefined
export function shownRuns(library: Library): readonly RunEntry[] {
  const { entries, deleted } = library
  if (deleted.length === 0) return entries
  if (shown?.of.entries !== entries || shown.of.deleted !== deleted)
    shown = { of: library, entries: entries.filter(({ id }) => !deleted.includes(id)) }
  return shown.entries
}
