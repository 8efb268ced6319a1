// Holds the run that the page shows: the living one, a past one that was opened, or before any the
// recording that fills its charts.
import { useStore } from 'zustand'
import { createStore } from 'zustand/vanilla'
import { type LabState, labStore } from '../../page/state/store.ts'
import type { RunSource } from '../../record/run/record.ts'
import { uiStore } from './store.ts'

interface View {
  /** A past run that was opened; undefined for the living one. */
  readonly viewed: LabState | undefined
  /** What it was imported from: its experiment is not what was trained. */
  readonly log: RunSource | undefined
  /** A recording whose numbers fill charts and figures while there is no run. */
  readonly recorded: LabState | undefined
}

export const viewStore = createStore<View>(() => ({
  viewed: undefined,
  log: undefined,
  recorded: undefined,
}))

/** Reads as a store of what `read` finds. */
const runStore = (read: () => LabState) => ({
  getState: read,
  getInitialState: (): LabState => labStore.getInitialState(),
  subscribe: (listener: (state: LabState, before: LabState) => void): (() => void) => {
    let before = read()
    const tell = () => {
      const state = read()
      if (state === before) return
      const last = before
      before = state
      listener(state, last)
    }
    const stops = [labStore.subscribe(tell), viewStore.subscribe(tell)]
    return () => {
      for (const stop of stops) stop()
    }
  },
})

/** The run that the page is about: for bars, sentences and files, which are never of the recording
 * that fills the charts. */
export const presentStore = runStore(() => viewStore.getState().viewed ?? labStore.getState())

/** The recording that fills charts and figures now; undefined where a run does. */
export function recordedInstead(): LabState | undefined {
  const { viewed, recorded } = viewStore.getState()
  return viewed || labStore.getState().runExperiment ? undefined : recorded
}

/** The run whose numbers charts and figures show. */
export const shownStore = runStore(() => recordedInstead() ?? presentStore.getState())

/** A part of the shown run; `selector` is a module-level function. What acts on the current run
 * uses useLab. */
export function useShown<T>(selector: (state: LabState) => T): T {
  return useStore(shownStore, selector)
}

/** A part of the run that the page is about. */
export function usePresent<T>(selector: (state: LabState) => T): T {
  return useStore(presentStore, selector)
}

/** The same at the pace of the page's redraws: for what changes with every step. */
export function useShownFrame<T>(selector: (state: LabState) => T): T {
  return useStore(uiStore, () => selector(shownStore.getState()))
}

/** The step that the page shows: the one that was scrubbed to, else the newest. */
export const shownStep = (): number => uiStore.getState().atStep ?? presentStore.getState().step

/** undefined while the page follows the run. */
export const useAtStep = (): number | undefined => useStore(uiStore, (state) => state.atStep)

const selectIsPast = ({ viewed }: { readonly viewed: LabState | undefined }) => viewed !== undefined

/** What is shown was imported from a log: nothing may be said of its settings. */
export const isImported = (): boolean => viewStore.getState().log !== undefined

/** The run that a link opens; none can open that of a log, which does not say its settings. */
export const linkedState = (): LabState => (isImported() ? labStore : presentStore).getState()

const selectLog = ({ log }: View) => log

/** What the shown run was imported from; undefined where it was trained here. */
export const useLog = (): RunSource | undefined => useStore(viewStore, selectLog)

export const useIsImported = (): boolean => useLog() !== undefined

/** A past run is shown: nothing that acts on the living one belongs beside its numbers. */
export const useIsPast = (): boolean => useStore(viewStore, selectIsPast)
