// Selects whether charts and figures may show the recording that comes with the page.
import { useStore } from 'zustand'
import { type Library, libraryStore } from '../../page/runs/library/library_store.ts'
import { type ReplayState, replayStore } from '../../page/state/replay.ts'
import { type ShareState, shareStore } from '../../page/state/share_store.ts'
import type { LabState } from '../../page/state/store.ts'
import { selectHasRun, useLab } from '../shown/run.ts'
import { useIsPast } from '../shown/shown.ts'
import { selectIsUnchosen } from '../shown/unchosen.ts'

const selectIsIdle = (state: LabState): boolean => !selectHasRun(state) && selectIsUnchosen(state)
/** What a person trained before comes first. */
const selectHasNoRuns = ({ isReady, entries }: Library): boolean => isReady && entries.length === 0
const selectHasNoResult = ({ result }: ShareState): boolean => result === undefined
const selectIsLive = ({ recording }: ReplayState): boolean => recording === undefined

/** The visitor pays for every byte, or wants few. */
const savesData = (): boolean =>
  (globalThis.navigator as { connection?: { readonly saveData?: boolean } } | undefined)?.connection
    ?.saveData === true

/** Nothing was trained, chosen, sent or opened: without the recording everything would be empty. */
export function useIsAtRest(): boolean {
  const all = [
    useLab(selectIsIdle),
    useStore(libraryStore, selectHasNoRuns),
    useStore(shareStore, selectHasNoResult),
    useStore(replayStore, selectIsLive),
    !useIsPast(),
  ]
  return all.every(Boolean) && !savesData()
}
