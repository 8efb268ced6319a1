// Calls a run by the name that the table of runs gives it, which no other run of the list has.
import { useStore } from 'zustand'
import {
  type Library,
  libraryStore,
  type RunEntry,
} from '../../../page/runs/library/library_store.ts'
import { runName } from '../../../record/run/names.ts'
import { distinctNames } from './distinct_names.ts'

const nameAmong = (entry: RunEntry, entries: Library['entries']): string =>
  distinctNames(entries).get(entry.id)?.name ?? runName(entry).name

/** As it is called now. */
export const calledName = (entry: RunEntry): string =>
  nameAmong(entry, libraryStore.getState().entries)

const selectEntries = ({ entries }: Library) => entries

/** The same, whatever becomes of the list. */
export const useCalledName = (entry: RunEntry): string =>
  nameAmong(entry, useStore(libraryStore, selectEntries))
