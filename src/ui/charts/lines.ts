// Lines from append-only columns: pure functions from data and size to points, and from points to a canvas.
import type { Domain } from './domain.ts'

/** Columns of one metric; the first `length` entries are valid, `steps` ascend. */
export interface Columns {
  readonly steps: ArrayLike<number>
  readonly values: ArrayLike<number>
  readonly length: number
}

/** Where a plot lies: data domains and its size in CSS pixels, origin at the top left. */
export interface View {
  readonly x: Domain
  readonly y: Domain
  readonly width: number
  readonly height: number
}

export interface LineStyle {
  readonly color: string
  readonly width: number
  readonly dash: readonly number[]
  /** Marks every point; for metrics that are measured only now and then. */
  readonly dots: boolean
}

/** The part of a 2D context that lines need: small enough to record in a test. */
export type LineContext = Pick<
  CanvasRenderingContext2D,
  | 'beginPath'
  | 'moveTo'
  | 'lineTo'
  | 'arc'
  | 'stroke'
  | 'fill'
  | 'setLineDash'
  | 'strokeStyle'
  | 'fillStyle'
  | 'lineWidth'
  | 'lineJoin'
>

/** Pixel of a value along an axis of `size` pixels. */
export function toPixel(value: number, [low, high]: Domain, size: number): number {
  return ((value - low) / (high - low || 1)) * size
}

/** First index whose step is ≥ `step`; `length` when there is none. */
export function lowerBound({ steps, length }: Columns, step: number): number {
  let low = 0
  let high = length
  while (low < high) {
    const middle = (low + high) >> 1
    if (steps[middle] < step) low = middle + 1
    else high = middle
  }
  return low
}

/** Index of the newest entry at or before `step`, or -1. */
export function indexAt(columns: Columns, step: number): number {
  return lowerBound(columns, step + 1e-9) - 1
}

/**
 * Points of a line in pixels, as [x, y, x, y, …]; NaN in y ends a segment. Where more than two entries
 * share a pixel column, the column keeps its first, lowest, highest and last, so that no spike is lost.
 */
export function linePoints(columns: Columns, view: View): number[] {
  const { steps, values, length } = columns
  const points: number[] = []
  const px = (i: number) => toPixel(steps[i], view.x, view.width)
  const push = (i: number) =>
    points.push(px(i), view.height - toPixel(values[i], view.y, view.height))
  for (let i = 0; i < length; ) {
    if (!Number.isFinite(values[i])) {
      points.push(px(i), Number.NaN)
      i++
      continue
    }
    const bucket = Math.floor(px(i))
    let [end, low, high] = [i, i, i]
    for (; end < length && Number.isFinite(values[end]) && Math.floor(px(end)) === bucket; end++) {
      if (values[end] < values[low]) low = end
      if (values[end] > values[high]) high = end
    }
    const kept = [...new Set([i, Math.min(low, high), Math.max(low, high), end - 1])]
    for (const index of kept) push(index)
    i = end
  }
  return points
}

/** Draws one line: gaps at NaN, a dot where a value stands alone between gaps. */
export function drawLine(ctx: LineContext, columns: Columns, view: View, style: LineStyle): void {
  const points = linePoints(columns, view)
  ctx.strokeStyle = style.color
  ctx.fillStyle = style.color
  ctx.lineWidth = style.width
  ctx.lineJoin = 'round'
  ctx.setLineDash([...style.dash])
  ctx.beginPath()
  const isGap = (at: number) => at < 0 || at >= points.length || Number.isNaN(points[at + 1])
  for (let at = 0; at < points.length; at += 2) {
    if (isGap(at)) continue
    if (isGap(at - 2)) ctx.moveTo(points[at], points[at + 1])
    else ctx.lineTo(points[at], points[at + 1])
  }
  ctx.stroke()
  ctx.setLineDash([])
  const crowded = points.length / 2 > view.width / 9
  for (let at = 0; at < points.length; at += 2) {
    const alone = isGap(at - 2) && isGap(at + 2)
    if (isGap(at) || !(alone || (style.dots && !crowded))) continue
    ctx.beginPath()
    ctx.arc(points[at], points[at + 1], style.width + 0.75, 0, 2 * Math.PI)
    ctx.fill()
  }
}
