// Chooses the entries of a long line that are drawn: all that a pixel can show, found once per
// entry.
import { type Columns, lowerBound } from '../../scales/columns.ts'
import { type Across as StepAcross, stepPixel, type View } from '../../scales/view.ts'

/** The part of a view that decides. */
export type Across = StepAcross & Pick<View, 'logY'>

/** The last column of pixels, or the last gap, to which entries may still be added. */
interface Open {
  /** GAP for a gap, NaN before the first entry. */
  pixel: number
  first: number
  low: number
  high: number
}

interface Decimated {
  readonly indices: number[]
  readonly open: Open
  /** Where `open` begins in `indices`. */
  openAt: number
  /** The next entry to look at. */
  next: number
  length: number
}

const GAP = Number.NEGATIVE_INFINITY

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
    const next = Math.max(0, lowerBound(columns, view.x[0]) - 1)
    const open = { pixel: Number.NaN, first: next, low: next, high: next }
    found = { indices: [], open, openAt: 0, next, length: 0 }
    if (views.size >= MAX_VIEWS) views.clear()
    views.set(key, found)
  }
  return found
}

/** Indices of the entries to be drawn, ascending, with one entry after the axis; of several that
 * share a column of pixels the first, lowest, highest and last, so that no spike is lost. A gap is
 * one index that is not drawn. While columns grow each entry is looked at once. */
export function keptIndices(columns: Columns, view: Across): readonly number[] {
  const found = find(columns, view)
  const { length } = columns
  if (found.length < length) {
    const [, right] = view.x
    const isInside = columns.steps[length - 1] <= right
    grow(found, columns, view, isInside ? length : lowerBound(columns, right + 1e-9) + 1)
    found.length = length
  }
  return found.indices
}

/** Looks at the entries before `end` that are new. */
function grow(found: Decimated, columns: Columns, view: Across, end: number): void {
  const { indices, open } = found
  const { steps, values, length } = columns
  const last = Math.min(length, end)
  if (found.next >= last) return
  indices.length = found.openAt
  for (let i = found.next; i < last; i++) {
    const pixel = isDrawn(columns, i, view) ? Math.floor(stepPixel(steps[i], view)) : GAP
    if (pixel !== open.pixel) {
      pushOpen(indices, open, i - 1)
      open.pixel = pixel
      open.first = i
      open.low = i
      open.high = i
    } else if (pixel !== GAP) {
      if (values[i] < values[open.low]) open.low = i
      if (values[i] > values[open.high]) open.high = i
    }
  }
  found.next = last
  found.openAt = indices.length
  pushOpen(indices, open, last - 1)
}

/** Of what ends with the entry `last`: one entry of a gap, up to four of a column of pixels. */
function pushOpen(indices: number[], { pixel, first, low, high }: Open, last: number): void {
  if (Number.isNaN(pixel)) return
  indices.push(first)
  if (pixel === GAP) return
  for (const index of [Math.min(low, high), Math.max(low, high), last])
    if (indices[indices.length - 1] !== index) indices.push(index)
}
