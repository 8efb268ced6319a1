// Holds the layer under the pointer, the same in every figure; undefined means the last one.
import { createStore } from 'zustand/vanilla'
import { lowerBound } from '../scales/columns.ts'

export const cursorStore = createStore<{ readonly layer: number | undefined }>(() => ({
  layer: undefined,
}))

export const setLayer = (layer: number | undefined): void => cursorStore.setState({ layer })

/** Where a key moves to among ascending stops; undefined where it is another key. */
export function movedTo(
  key: string,
  stops: ArrayLike<number>,
  at: number | undefined,
): number | undefined {
  if (stops.length === 0) return undefined
  const last = stops.length - 1
  const { length } = stops
  const after = at === undefined ? last : lowerBound({ steps: stops, length }, at)
  const index = Math.min(last, after)
  if (key === 'ArrowLeft') return stops[Math.max(0, index - 1)]
  if (key === 'ArrowRight') return stops[Math.min(last, index + 1)]
  if (key === 'Home') return stops[0]
  return key === 'End' ? stops[last] : undefined
}
