// The way from somewhere on the page to a setting: unfolds it, scrolls to it, puts the focus on it and marks it for a while.
import { type RefObject, useEffect, useRef } from 'react'
import { useStore } from 'zustand'
import { uiStore } from '../base/store.ts'

const MARKED_MS = 4000

/** Shows the setting at this path. */
export function showSetting(path: string): void {
  uiStore.setState({ settings_open: true, wanted_setting: { path } })
}

/** Calls `unfold` when one of these settings is wanted. */
export function useUnfold(paths: readonly string[], unfold: () => void): void {
  const wanted = useStore(uiStore, ({ wanted_setting }) =>
    wanted_setting && paths.includes(wanted_setting.path) ? wanted_setting : undefined,
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
  readonly is_wanted: boolean
} {
  const ref = useRef<HTMLDivElement>(null)
  const wanted = useStore(uiStore, ({ wanted_setting }) =>
    wanted_setting?.path === path ? wanted_setting : undefined,
  )
  useEffect(() => {
    if (!wanted) return
    ref.current?.scrollIntoView({ block: 'center' })
    ref.current?.querySelector<HTMLElement>('input, select')?.focus({ preventScroll: true })
    const timer = setTimeout(() => {
      if (uiStore.getState().wanted_setting === wanted)
        uiStore.setState({ wanted_setting: undefined })
    }, MARKED_MS)
    return () => clearTimeout(timer)
  }, [wanted])
  return { ref, is_wanted: wanted !== undefined }
}
