// Finds the part of a picture that is out of date after its columns grew: the pixels right of where
// they ended.
import type { Columns } from '../../scales/columns.ts'
import { stepPixel, type View } from '../../scales/view.ts'
import type { Look } from './draw_line.ts'
import { REACH } from './line_points.ts'

/** What a canvas has of columns. */
export interface Drawn {
  readonly columns: Columns
  /** So many entries of them. */
  readonly length: number
  /** A line's; undefined where nothing depends on how many points there are. */
  readonly look: Look | undefined
  /** How far left of an entry a new one after it may change the picture, in CSS pixels. */
  readonly reach: number
  /** The step up to which the last entry is held, where it is. */
  readonly until?: number
}

export const drawnColumns = (columns: Columns, look?: Look, reach = REACH): Drawn => ({
  columns,
  length: columns.length,
  look,
  reach,
})

const isSameLook = (a: Look | undefined, b: Look | undefined) =>
  a?.isDense === b?.isDense && a?.isMany === b?.isMany && a?.isCrowded === b?.isCrowded

/** The pixel (CSS, from the left of the plot) from which on a picture of `before` differs from one
 * of `now` in the same view:
 * -Infinity for all of it, Infinity for nothing. Columns grow at their end, so that a new entry
 * reaches back to the one before it. */
export function staleFrom(
  before: readonly Drawn[] | undefined,
  now: readonly Drawn[],
  view: View,
): number {
  if (before?.length !== now.length) return Number.NEGATIVE_INFINITY
  let from = Number.POSITIVE_INFINITY
  for (let i = 0; i < now.length; i++) {
    const [old, { columns, length, look, reach, until }] = [before[i], now[i]]
    if (old.columns !== columns || old.length > length || !isSameLook(old.look, look))
      return Number.NEGATIVE_INFINITY
    if (old.length === length && old.until === until) continue
    if (old.length === 0) return Number.NEGATIVE_INFINITY
    const pixel = stepPixel(columns.steps[old.length - 1], view)
    // Which entries of a column of pixels are drawn may change for all of the column.
    from = Math.min(from, Math.floor(pixel) - reach)
    if (Number.isNaN(from)) return Number.NEGATIVE_INFINITY
  }
  return from
}

/** The same edge moved left onto a whole pixel of the canvas, so that nothing is half cleared;
 * undefined for all of it. */
export function clearedFrom(stale: number, bleed: number, pixelRatio: number): number | undefined {
  const left = Math.floor((stale + bleed) * pixelRatio) / pixelRatio - bleed
  return left > -bleed ? left : undefined
}
