// Turns columns into the points of a line in pixels.
import type { Columns } from '../../scales/columns.ts'
import { stepPixel, toPixel, type View } from '../../scales/view.ts'
import { isDrawn, keptIndices } from './decimate.ts'

/** Nothing that is drawn reaches further from its point, in CSS pixels. */
export const REACH = 8

/** The first of kept indices that is needed to draw what points from a pixel on reach: two corners
 * more. */
function firstKept({ steps }: Columns, kept: readonly number[], view: View, least: number): number {
  let low = 0
  let high = kept.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (stepPixel(steps[kept[middle]], view) >= least) high = middle
    else low = middle + 1
  }
  return Math.max(0, low - 2)
}

/** Points of a line in pixels, as [x, y, x, y, …]; NaN in y ends a segment. Where more than two
 * entries share a pixel column, the column keeps its first, lowest, highest and last, so that no
 * spike is lost. With `from` only those that are needed right of this pixel, where each
 * reaches so far. */
export function linePoints(columns: Columns, view: View, from?: number, reach = REACH): number[] {
  const { steps, values } = columns
  const kept = keptIndices(columns, view)
  const indices =
    from === undefined ? kept : kept.slice(firstKept(columns, kept, view, from - reach))
  const points = new Array<number>(2 * indices.length)
  if (!view.logX && !view.logY && !view.scale) {
    // Thousands of points, ten times a second: nothing is called for each of them.
    const across = view.width / (view.x[1] - view.x[0] || 1)
    const up = view.height / (view.y[1] - view.y[0] || 1)
    for (let at = 0; at < indices.length; at++) {
      const value = values[indices[at]]
      points[2 * at] = (steps[indices[at]] - view.x[0]) * across
      points[2 * at + 1] = Number.isFinite(value)
        ? view.height - (value - view.y[0]) * up
        : Number.NaN
    }
    return points
  }
  indices.forEach((index, at) => {
    points[2 * at] = stepPixel(steps[index], view)
    points[2 * at + 1] = isDrawn(columns, index, view)
      ? view.height - toPixel(values[index], view.y, view.height, view.logY)
      : Number.NaN
  })
  return points
}
