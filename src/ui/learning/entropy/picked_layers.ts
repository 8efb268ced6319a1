// Chooses the layers that have a line of their own where a model has more than lines can show; the
// map has all of them.
import { createStore } from 'zustand/vanilla'
import { spread } from '../../plot/files/chart_file.ts'

/** Lines that can be told apart. */
export const MOST_LINES = 8
/** How many layers of a deep model are shown before anybody has picked. */
const PICKED_AT_FIRST = 5

/** undefined until somebody picks; a model of another depth begins again. */
const pickedStore = createStore<{ readonly of: number; readonly layers: readonly number[] }>(
  () => ({
    of: -1,
    layers: [],
  }),
)

/** The layers 0 … last that are drawn as lines: all of a shallow model; of a deep one those that
 * were picked. */
export function layersOnChart(last: number): readonly number[] {
  if (last < MOST_LINES) return Array.from({ length: last + 1 }, (_, layer) => layer)
  const { of, layers } = pickedStore.getState()
  return of === last ? layers : spread(last + 1, PICKED_AT_FIRST)
}

/** Draws the line of a layer, or no longer; the lowest makes room where there are too many. */
export function togglePick(layer: number, last: number): void {
  const before = layersOnChart(last)
  const others = before.filter((other) => other !== layer)
  const next = others.length < before.length ? others : [...others, layer].slice(-MOST_LINES)
  pickedStore.setState({ of: last, layers: next.sort((a, b) => a - b) })
}

export const onPick = pickedStore.subscribe
