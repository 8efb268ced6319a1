// Draws lines and bands on a canvas.

import type { Columns } from '../../scales/columns.ts'
import type { View } from '../../scales/view.ts'
import { BAR_REACH, drawBars } from './bars.ts'
import { keptIndices } from './decimate.ts'
import { linePoints, REACH } from './line_points.ts'
import type { LineContext, LineStyle } from './line_style.ts'

export const BAND_OPACITY = 0.16

/** Translucent area between two columns of the same steps, as a band of several runs. */
export function drawBand(
  ctx: LineContext & Pick<CanvasRenderingContext2D, 'closePath'>,
  { low, high }: { readonly low: Columns; readonly high: Columns },
  view: View,
  color: string,
): void {
  const isPoint = (points: readonly number[], at: number) => !Number.isNaN(points[at + 1])
  const upper = linePoints(high, view)
  const lower = linePoints(low, view)
  ctx.fillStyle = color
  ctx.globalAlpha = BAND_OPACITY
  ctx.beginPath()
  let isBegun = false
  const go = (points: readonly number[], at: number) => {
    if (!isPoint(points, at)) return
    if (isBegun) ctx.lineTo(points[at], points[at + 1])
    else ctx.moveTo(points[at], points[at + 1])
    isBegun = true
  }
  for (let at = 0; at < upper.length; at += 2) go(upper, at)
  for (let at = lower.length - 2; at >= 0; at -= 2) go(lower, at)
  ctx.closePath()
  ctx.fill()
  ctx.globalAlpha = 1
}

const MANY_POINTS = 200

/** Points for each pixel of width from which a line is a row of upright bars: a path of so many
 * corners costs ten times as much. */
const DENSE = 1.5

/** What a line's number of points decides about all of it. */
export interface Look {
  /** Drawn as upright bars. */
  readonly isDense: boolean
  /** Too many corners to round them. */
  readonly isMany: boolean
  /** Too many points to mark each. */
  readonly isCrowded: boolean
}

export function lookOf(columns: Columns, view: View): Look {
  const count = keptIndices(columns, view).length
  const isMany = count > MANY_POINTS
  return {
    isDense: isMany && count > DENSE * view.width,
    isMany,
    isCrowded: count > view.width / 9,
  }
}

/** Length of a line from its last gap to a point, in pixels: where its dashes stand there. */
function lengthUntil(points: readonly number[], end: number): number {
  let length = 0
  for (let at = 2; at <= end; at += 2) {
    const piece = Math.hypot(points[at] - points[at - 2], points[at + 1] - points[at - 1])
    length = Number.isNaN(piece) ? 0 : length + piece
  }
  return length
}

/** Draws one line: gaps at NaN, a dot where a value stands alone between gaps. With `from`, what
 * lies right of that pixel is as in the whole line; what lies left of it may be missing, and is to
 * be clipped. */
export function drawLine(
  ctx: LineContext,
  columns: Columns,
  view: View,
  style: LineStyle,
  from?: number,
): void {
  const { isDense, isMany, isCrowded } = lookOf(columns, view)
  const points = linePoints(columns, view, from, isDense ? BAR_REACH : REACH)
  if (isDense) {
    drawBars(ctx, points, style)
    return
  }
  ctx.globalAlpha = style.opacity ?? 1
  ctx.strokeStyle = style.color
  ctx.fillStyle = style.color
  ctx.lineWidth = style.width
  // A round corner at each of thousands of points costs more than all the rest.
  ctx.lineJoin = isMany ? 'bevel' : 'round'
  ctx.setLineDash([...style.dash])
  if (style.dash.length > 0 && from !== undefined) {
    const whole = linePoints(columns, view)
    ctx.lineDashOffset = lengthUntil(whole, whole.length - points.length)
  }
  ctx.beginPath()
  const isGap = (at: number) => at < 0 || at >= points.length || Number.isNaN(points[at + 1])
  for (let at = 0; at < points.length; at += 2) {
    if (isGap(at)) continue
    if (isGap(at - 2)) ctx.moveTo(points[at], points[at + 1])
    else ctx.lineTo(points[at], points[at + 1])
  }
  ctx.stroke()
  ctx.setLineDash([])
  ctx.lineDashOffset = 0
  for (let at = 0; at < points.length; at += 2) {
    const alone = isGap(at - 2) && isGap(at + 2)
    if (isGap(at) || !(alone || (style.dots && !isCrowded))) continue
    ctx.beginPath()
    ctx.arc(points[at], points[at + 1], style.width + 0.75, 0, 2 * Math.PI)
    ctx.fill()
  }
  ctx.globalAlpha = 1
}
