// Draws a chart's lines and bands from a list: on the canvas, or as paths of an SVG.

import type { Columns } from '../../scales/columns.ts'
import type { View } from '../../scales/view.ts'
import { BAR_REACH } from './bars.ts'
import { BAND_OPACITY, drawBand, drawLine, lookOf } from './draw_line.ts'
import { linePoints, REACH } from './line_points.ts'
import type { LineStyle } from './line_style.ts'
import { type Drawn, drawnColumns } from './repaint.ts'

export type Stroke =
  | { readonly kind: 'line'; readonly columns: Columns; readonly style: LineStyle }
  | {
      readonly kind: 'band'
      readonly low: Columns
      readonly high: Columns
      readonly color: string
    }

/** Draws from back to front; with `from` what lies right of that pixel, see `drawLine`. */
export function drawStrokes(
  ctx: Parameters<typeof drawBand>[0],
  strokes: readonly Stroke[],
  view: View,
  from?: number,
): void {
  for (const stroke of strokes)
    if (stroke.kind === 'band') drawBand(ctx, stroke, view, stroke.color)
    else drawLine(ctx, stroke.columns, view, stroke.style, from)
}

/** What a canvas has of strokes, once they are drawn. */
export const drawnOf = (strokes: readonly Stroke[], view: View): Drawn[] =>
  strokes.flatMap((stroke) => {
    if (stroke.kind === 'band') return [drawnColumns(stroke.low), drawnColumns(stroke.high)]
    const look = lookOf(stroke.columns, view)
    return [drawnColumns(stroke.columns, look, look.isDense ? BAR_REACH : REACH)]
  })

const round = (value: number) => Number(value.toFixed(2))

/** Path data of a line, a new subpath after each gap; a point alone is a stroke of no length, which
 * a round cap makes a dot. */
export function linePath(columns: Columns, view: View): string {
  const points = linePoints(columns, view)
  const isGap = (at: number) => at < 0 || at >= points.length || Number.isNaN(points[at + 1])
  let path = ''
  for (let at = 0; at < points.length; at += 2) {
    if (isGap(at)) continue
    const place = `${round(points[at])} ${round(points[at + 1])}`
    path += isGap(at - 2) ? `M${place}` : `L${place}`
    if (isGap(at - 2) && isGap(at + 2)) path += 'h0'
  }
  return path
}

/** Path data of a band: along its high side, and back along its low one. */
export function bandPath(low: Columns, high: Columns, view: View): string {
  const there = linePath(high, view)
  const points = linePoints(low, view)
  let back = ''
  for (let at = points.length - 2; at >= 0; at -= 2)
    if (!Number.isNaN(points[at + 1])) back += `L${round(points[at])} ${round(points[at + 1])}`
  return there === '' ? '' : `${there.replaceAll(/(?!^)M/g, 'L')}${back}Z`
}

/** Attributes of the SVG path of a stroke; an empty `d` for one without a point. */
export function strokeAttributes(stroke: Stroke, view: View): Readonly<Record<string, string>> {
  if (stroke.kind === 'band')
    return {
      d: bandPath(stroke.low, stroke.high, view),
      fill: stroke.color,
      'fill-opacity': String(BAND_OPACITY),
      stroke: 'none',
    }
  const { color, width, dash, opacity = 1 } = stroke.style
  return {
    d: linePath(stroke.columns, view),
    fill: 'none',
    stroke: color,
    'stroke-width': String(width),
    'stroke-linejoin': 'round',
    'stroke-linecap': dash.length > 0 ? 'butt' : 'round',
    ...(dash.length > 0 ? { 'stroke-dasharray': dash.join(' ') } : {}),
    ...(opacity < 1 ? { 'stroke-opacity': String(opacity) } : {}),
  }
}
