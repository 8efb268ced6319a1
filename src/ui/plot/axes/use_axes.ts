// Gives the axes of a chart over steps, rendered again only when they change.
import { useMemo, useRef } from 'react'
import { useStore } from 'zustand'
import type { Domain } from '../../scales/domain.ts'
import { useStepDomain } from '../../shown/run.ts'
import { type UiState, uiStore } from '../../shown/store.ts'

const selectLogY = (state: UiState) => state.logY
const selectLogX = (state: UiState) => state.logX

export interface Axes {
  /** Steps shown; from 1 on where their axis is logarithmic. */
  readonly x: Domain
  readonly logX: boolean
  readonly logY: boolean
}

/** Of the chart with this id, as its menu and the zoom of all charts say. */
export function useAxes(id: string): Axes {
  const logY = useStore(uiStore, selectLogY).has(id)
  const logX = useStore(uiStore, selectLogX).has(id)
  const steps = useStepDomain()
  return useMemo(
    () => ({
      x: logX ? [Math.max(1, steps[0]), Math.max(2, steps[1])] : steps,
      logX,
      logY,
    }),
    [steps, logX, logY],
  )
}

export interface ValueAxis {
  readonly ticks: readonly number[]
  /** From the first tick to the last. */
  readonly y: Domain
  /** Values that are gaps, because the axis is logarithmic. */
  readonly notPositive: number
  /** What the columns no longer have, as a sentence; '' where they are whole. */
  readonly thinned: string
}

/** `ask` answers with all but the domain, or with undefined to stay as it was; it is asked at every
 * frame. */
export function useValueAxis(ask: () => Omit<ValueAxis, 'y'> | undefined): ValueAxis {
  const last = useRef('0 1|0|')
  // A text, so that unchanged ticks render nothing.
  const key = useStore(uiStore, () => {
    const axis = ask()
    if (axis) last.current = `${axis.ticks.join(' ')}|${axis.notPositive}|${axis.thinned}`
    return last.current
  })
  return useMemo(() => {
    const [words, count, thinned] = key.split('|')
    const ticks = words.split(' ').map(Number)
    return { ticks, y: [ticks[0], ticks[ticks.length - 1]], notPositive: Number(count), thinned }
  }, [key])
}
