// Lines from append-only columns: pure functions from data and size to points, and from points to a canvas.
import type { Thinned } from '../../../lab/columns/thinning.ts'
import type { Domain } from '../axes/domain.ts'
import { isDrawn, keptIndices } from './decimate.ts'

/** Columns of one metric; the first `length` entries are valid, `steps` ascend. */
export interface Columns {
  readonly steps: ArrayLike<number>
  readonly values: ArrayLike<number>
  readonly length: number
  /** Where not every row is kept. */
  readonly thinned?: Thinned | undefined
}

/** Where a plot lies: data domains and its size in CSS pixels, origin at the top left. */
export interface View {
  readonly x: Domain
  readonly y: Domain
  readonly width: number
  readonly height: number
  /** Logarithmic axes: their domains are above 0, and what is not is a gap. */
  readonly log_x?: boolean
  readonly log_y?: boolean
}

export interface LineStyle {
  readonly color: string
  readonly width: number
  readonly dash: readonly number[]
  /** Marks every point; for metrics that are measured only now and then. */
  readonly dots: boolean
  /** 1 unless it stands behind another line. */
  readonly opacity?: number
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
  | 'lineDashOffset'
  | 'strokeStyle'
  | 'fillStyle'
  | 'lineWidth'
  | 'lineJoin'
  | 'globalAlpha'
  | 'fillRect'
>

/** Pixel of a value along an axis of `size` pixels; NaN for what a logarithmic axis cannot show. */
export function toPixel(
  value: number,
  [low, high]: Domain,
  size: number,
  is_log: boolean | undefined = false,
): number {
  if (!is_log) return ((value - low) / (high - low || 1)) * size
  return value > 0 ? (Math.log(value / low) / (Math.log(high / low) || 1)) * size : Number.NaN
}

/** Value under a pixel: the reverse of `toPixel`. */
export function fromPixel(
  pixel: number,
  [low, high]: Domain,
  size: number,
  is_log: boolean | undefined = false,
): number {
  const share = pixel / (size || 1)
  return is_log ? low * (high / low) ** share : low + share * (high - low)
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

/** Nothing that is drawn reaches further from its point, in CSS pixels. */
export const REACH = 8

/** The first of kept indices that is needed to draw what lies right of a pixel: a corner more than reaches there. */
function firstKept({ steps }: Columns, kept: readonly number[], view: View, from: number): number {
  let low = 0
  let high = kept.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (toPixel(steps[kept[middle]], view.x, view.width, view.log_x) >= from - REACH) high = middle
    else low = middle + 1
  }
  return Math.max(0, low - 2)
}

/**
 * Points of a line in pixels, as [x, y, x, y, …]; NaN in y ends a segment. Where more than two entries
 * share a pixel column, the column keeps its first, lowest, highest and last, so that no spike is lost. With `from` only
 * those that are needed right of this pixel.
 */
export function linePoints(columns: Columns, view: View, from?: number): number[] {
  const { steps, values } = columns
  const kept = keptIndices(columns, view)
  const indices = from === undefined ? kept : kept.slice(firstKept(columns, kept, view, from))
  const points = new Array<number>(2 * indices.length)
  if (!view.log_x && !view.log_y) {
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
    points[2 * at] = toPixel(steps[index], view.x, view.width, view.log_x)
    points[2 * at + 1] = isDrawn(columns, index, view)
      ? view.height - toPixel(values[index], view.y, view.height, view.log_y)
      : Number.NaN
  })
  return points
}

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
  let is_begun = false
  const go = (points: readonly number[], at: number) => {
    if (!isPoint(points, at)) return
    if (is_begun) ctx.lineTo(points[at], points[at + 1])
    else ctx.moveTo(points[at], points[at + 1])
    is_begun = true
  }
  for (let at = 0; at < upper.length; at += 2) go(upper, at)
  for (let at = lower.length - 2; at >= 0; at -= 2) go(lower, at)
  ctx.closePath()
  ctx.fill()
  ctx.globalAlpha = 1
}

export const BAND_OPACITY = 0.16

const MANY_POINTS = 200

/** Points for each pixel of width from which a line is a row of upright bars: a path of so many corners costs ten times as much. */
const DENSE = 1.5

/** The lowest and highest pixel of a line in one column of pixels. */
export interface Bar {
  readonly x: number
  readonly top: number
  readonly bottom: number
}

/** A line of many points as one bar for each column of pixels; neighbours touch, unless there is a gap between them. */
export function lineBars(points: readonly number[]): Bar[] {
  const bars: { x: number; top: number; bottom: number }[] = []
  let last: number | undefined
  for (let at = 0; at < points.length; at += 2) {
    const [x, y] = [Math.floor(points[at]), points[at + 1]]
    if (Number.isNaN(y)) {
      last = undefined
      continue
    }
    const bar = bars[bars.length - 1]
    if (last !== undefined && bar && bar.x === x) {
      bar.top = Math.min(bar.top, y)
      bar.bottom = Math.max(bar.bottom, y)
    } else bars.push({ x, top: Math.min(y, last ?? y), bottom: Math.max(y, last ?? y) })
    last = y
  }
  return bars
}

/** Draws a dense line. Its dashes are counted along the axis: along its own length they would melt into one. */
function drawBars(ctx: LineContext, points: readonly number[], style: LineStyle): void {
  const period = style.dash.reduce((sum, length) => sum + length, 0)
  const isOn = (x: number) => {
    let rest = period > 0 ? x % period : 0
    for (const [i, length] of style.dash.entries()) {
      if (rest < length) return i % 2 === 0
      rest -= length
    }
    return true
  }
  const half = style.width / 2
  ctx.globalAlpha = style.opacity ?? 1
  ctx.fillStyle = style.color
  for (const { x, top, bottom } of lineBars(points)) {
    // Whole pixels: nothing to smooth.
    const from = Math.round(top - half)
    if (isOn(x)) ctx.fillRect(x, from, 1, Math.max(1, Math.round(bottom + half) - from))
  }
  ctx.globalAlpha = 1
}

/** What a line's number of points decides about all of it. */
export interface Look {
  /** Drawn as upright bars. */
  readonly is_dense: boolean
  /** Too many corners to round them. */
  readonly is_many: boolean
  /** Too many points to mark each. */
  readonly is_crowded: boolean
}

export function lookOf(columns: Columns, view: View): Look {
  const count = keptIndices(columns, view).length
  const is_many = count > MANY_POINTS
  return {
    is_dense: is_many && count > DENSE * view.width,
    is_many,
    is_crowded: count > view.width / 9,
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

/**
 * Draws one line: gaps at NaN, a dot where a value stands alone between gaps. With `from`, what lies right of that pixel is as in
 * the whole line; what lies left of it may be missing, and is to be clipped.
 */
export function drawLine(
  ctx: LineContext,
  columns: Columns,
  view: View,
  style: LineStyle,
  from?: number,
): void {
  const points = linePoints(columns, view, from)
  const { is_dense, is_many, is_crowded } = lookOf(columns, view)
  if (is_dense) {
    drawBars(ctx, points, style)
    return
  }
  ctx.globalAlpha = style.opacity ?? 1
  ctx.strokeStyle = style.color
  ctx.fillStyle = style.color
  ctx.lineWidth = style.width
  // A round corner at each of thousands of points costs more than all the rest.
  ctx.lineJoin = is_many ? 'bevel' : 'round'
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
    if (isGap(at) || !(alone || (style.dots && !is_crowded))) continue
    ctx.beginPath()
    ctx.arc(points[at], points[at + 1], style.width + 0.75, 0, 2 * Math.PI)
    ctx.fill()
  }
  ctx.globalAlpha = 1
}
