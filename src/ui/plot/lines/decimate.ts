// Chooses the entries of a long line that are drawn: all that a pixel can show, found once per
// entry.
import { type Columns, lowerBound } from '../../scales/columns.ts'
import { type Across as StepAcross, stepPixel, type View } from '../../scales/view.ts'

/** The part of a view that decides. */
export type Across = StepAcross & Pick<View, 'logY'>

interface Decimated {
  readonly indices: number[]
  /** Where the last column of pixels begins, in the columns and in `indices`: it may still grow. */
  openFrom: number
  openAt: number
  length: number
}

/** A metric may be in several charts of different widths. */
const MAX_VIEWS = 4
const known = new WeakMap<Columns, Map<string, Decimated>>()

/** Whether an entry is a point of the line: finite, and above 0 where an axis is logarithmic. */
export function isDrawn({ steps, values }: Columns, i: number, view: Across): boolean {
  if (view.logX && !(steps[i] > 0)) return false
  return Number.isFinite(values[i]) && (!view.logY || values[i] > 0)
}

const keys = new WeakMap<Across, string>()

/** Views are kept while they are the same: their texts are too. */
function keyOf(view: Across): string {
  let key = keys.get(view)
  if (key === undefined) {
    const { x, width, logX, logY, scale } = view
    key = [...x, width, logX, logY, ...(scale?.steps ?? []), ...(scale?.places ?? [])].join()
    keys.set(view, key)
  }
  return key
}

function find(columns: Columns, view: Across): Decimated {
  const views = known.get(columns) ?? new Map<string, Decimated>()
  known.set(columns, views)
  const key = keyOf(view)
  let found = views.get(key)
  if (!found || found.length > columns.length) {
    // One entry before the axis, so that the line comes in from there.
    const openFrom = Math.max(0, lowerBound(columns, view.x[0]) - 1)
    found = { indices: [], openFrom, openAt: 0, length: 0 }
    if (views.size >= MAX_VIEWS) views.clear()
    views.set(key, found)
  }
  return found
}

/** Indices of the entries to be drawn, ascending, with one entry after the axis; of several that
 * share a column of pixels the first, lowest, highest and last, so that no spike is lost. A gap is
 * one index that is not drawn. */
export function keptIndices(columns: Columns, view: Across): readonly number[] {
  const found = find(columns, view)
  const { indices } = found
  const { steps, values, length } = columns
  const end = Math.min(length, lowerBound(columns, view.x[1] + 1e-9) + 1)
  const pixelOf = (i: number) => Math.floor(stepPixel(steps[i], view))
  indices.length = found.openAt
  found.length = length
  for (let i = found.openFrom; i < end; ) {
    found.openFrom = i
    found.openAt = indices.length
    if (!isDrawn(columns, i, view)) {
      indices.push(i)
      while (i < end && !isDrawn(columns, i, view)) i++
      continue
    }
    const pixel = pixelOf(i)
    const first = i
    let [low, high] = [i, i]
    for (; i < end && isDrawn(columns, i, view) && pixelOf(i) === pixel; i++) {
      if (values[i] < values[low]) low = i
      if (values[i] > values[high]) high = i
    }
    push(indices, first, Math.min(low, high), Math.max(low, high), i - 1)
  }
  return indices
}

/** Ascending indices, each once. */
function push(indices: number[], ...ascending: number[]): void {
  for (const index of ascending) if (indices[indices.length - 1] !== index) indices.push(index)
}
