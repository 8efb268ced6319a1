// Puts other runs on the same charts: drawn faintly behind the shown one.
import { useMemo } from 'react'
import { useStore } from 'zustand'
import { createStore } from 'zustand/vanilla'
import type { Columns } from '../scales/columns.ts'
import { useIsImported, useShown } from './shown.ts'
import { uiStore } from './store.ts'

/** One run, or the mean of several. */
export interface Overlay {
  readonly id: string
  readonly label: string
  /** Any CSS colour. */
  readonly color: string
  readonly dash: readonly number[]
  /** The last step that it has, and the last one that it will have; 0 before there is any. */
  end(): { readonly last: number; readonly planned: number }
  series(metric: string): Columns | undefined
  /** Lowest and highest at each step, where the overlay is of several runs. */
  band?(metric: string): { readonly low: Columns; readonly high: Columns } | undefined
}

export const overlayStore = createStore<{ readonly overlays: readonly Overlay[] }>(() => ({
  overlays: [],
}))

/** How `hiddenLines` names an overlay. */
export const overlayKey = (id: string): string => `overlay:${id}`

const selectOverlays = (state: { readonly overlays: readonly Overlay[] }) => state.overlays

export const useOverlays = (): readonly Overlay[] => useStore(overlayStore, selectOverlays)

/** Of a log those lines alone that it has, or a run beside it: it is over, and no other will
 * come. */
export function useLogged<T extends { readonly metric: string }>(
  lines: readonly T[],
): readonly T[] {
  const isImported = useIsImported()
  const overlays = useOverlays()
  const key = useShown(({ series }) => {
    const has = ({ metric }: T) =>
      !isImported || series.has(metric) || overlays.some((overlay) => overlay.series(metric))
    return lines.map((line) => (has(line) ? 1 : 0)).join('')
  })
  return useMemo(() => lines.filter((_, i) => key[i] === '1'), [lines, key])
}

/** Id of the overlay that a link's result is drawn as. */
export const SENDER_ID = 'sender'

/** The furthest end of all overlays that are not hidden. */
export function overlaysEnd(): { readonly last: number; readonly planned: number } {
  const { hiddenLines } = uiStore.getState()
  const ends = overlayStore
    .getState()
    .overlays.flatMap((overlay) => (hiddenLines.has(overlayKey(overlay.id)) ? [] : overlay.end()))
  return {
    last: Math.max(0, ...ends.map(({ last }) => last)),
    planned: Math.max(0, ...ends.map(({ last, planned }) => Math.max(last, planned))),
  }
}
