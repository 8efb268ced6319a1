// Leads from anywhere on the page to a setting: unfolds it, scrolls to it, puts the focus on it
// and marks it for a while.
import { type RefObject, useEffect, useRef } from 'react'
import { useStore } from 'zustand'
import { createStore } from 'zustand/vanilla'
import { uiStore } from '../shown/store.ts'

const MARKED_MS = 4000

/** Shows the setting at this path. */
export function showSetting(path: string): void {
  uiStore.setState({ settings_open: true, wantedSetting: { path } })
}

/** The phase whose settings are to be shown; a new object asks again. */
const wantedPhaseStore = createStore<{
  readonly wanted: { readonly index: number } | undefined
}>(() => ({ wanted: undefined }))

/** Shows the settings of a phase beside the line of phases, where there is room; the focus stays
 * where it is. */
export function showPhase(index: number): void {
  if (hasRoomBeside()) goToPhase(index)
}

/** Shows the settings of a phase, also where the page goes there for it. */
export function goToPhase(index: number): void {
  uiStore.setState({ settings_open: true })
  wantedPhaseStore.setState({ wanted: { index } })
}

const hasRoomBeside = () => globalThis.matchMedia?.('(min-width: 900px)').matches ?? false

/** Calls `unfold` when the phase of a heading is wanted; what is drawn then comes into sight. */
export function useWantedPhase(index: number | undefined, unfold: () => void) {
  const ref = useRef<HTMLDetailsElement>(null)
  const wanted = useStore(wantedPhaseStore, ({ wanted }) =>
    wanted !== undefined && wanted.index === index ? wanted : undefined,
  )
  const latest = useRef(unfold)
  latest.current = unfold
  useEffect(() => {
    if (!wanted) return
    latest.current()
    const body = ref.current?.closest('.settings-body')
    if (ref.current && !hasRoomBeside()) {
      ref.current.scrollIntoView()
      // Settings that are opened again later stay where they are.
      wantedPhaseStore.setState({ wanted: undefined })
    } else if (ref.current && body)
      body.scrollTop += ref.current.getBoundingClientRect().top - body.getBoundingClientRect().top
  }, [wanted])
  return ref
}

/** Calls `unfold` when one of these settings is wanted. */
export function useUnfold(paths: readonly string[], unfold: () => void): void {
  const wanted = useStore(uiStore, ({ wantedSetting }) =>
    wantedSetting && paths.includes(wantedSetting.path) ? wantedSetting : undefined,
  )
  const latest = useRef(unfold)
  latest.current = unfold
  useEffect(() => {
    if (wanted) latest.current()
  }, [wanted])
}

/** Where a setting is drawn, and whether it is the wanted one. */
export function useWanted(path: string): {
  readonly ref: RefObject<HTMLDivElement | null>
  readonly isWanted: boolean
} {
  const ref = useRef<HTMLDivElement>(null)
  const wanted = useStore(uiStore, ({ wantedSetting }) =>
    wantedSetting?.path === path ? wantedSetting : undefined,
  )
  useEffect(() => {
    if (!wanted) return
    ref.current?.scrollIntoView({ block: 'center' })
    ref.current?.querySelector<HTMLElement>('input, select')?.focus({ preventScroll: true })
    const timer = setTimeout(() => {
      if (uiStore.getState().wantedSetting === wanted)
        uiStore.setState({ wantedSetting: undefined })
    }, MARKED_MS)
    return () => clearTimeout(timer)
  }, [wanted])
  return { ref, isWanted: wanted !== undefined }
}
