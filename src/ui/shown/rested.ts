// Reads what a run keeps, at a pace that people can follow.
import { useEffect, useState } from 'react'
import { useStore } from 'zustand'
import type { LabState } from '../../page/state/store.ts'
import { shownStore, useShown, viewStore } from './shown.ts'

const selectKept = (state: LabState) => state.kept
const REST_MS = 500

/** What the shown run has kept; renders at most twice a second, however fast steps come. */
export function useKept(): LabState['kept'] {
  const kept = useShown(selectKept)
  const [, setDraws] = useState(0)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let drawn: LabState | undefined
    const draw = () => {
      timer = undefined
      drawn = shownStore.getState()
      setDraws((draws) => draws + 1)
    }
    draw()
    const stop = shownStore.subscribe((state) => {
      const isSame = state.kept === drawn?.kept && state.keptVersion === drawn.keptVersion
      if (!isSame) timer ??= setTimeout(draw, REST_MS)
    })
    return () => {
      clearTimeout(timer)
      stop()
    }
  }, [])
  return kept
}

/** False while a past run is shown: nothing more can be measured of it. */
export const useIsLiving = (): boolean => useStore(viewStore, ({ viewed }) => viewed === undefined)
