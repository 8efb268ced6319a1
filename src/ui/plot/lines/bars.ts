// Paints a dense line as upright bars, one for each column of pixels: a path of so many corners
// costs ten times as much.
import type { LineContext, LineStyle } from './line_style.ts'

/** No bar changes left of the column of pixels that a new entry lies behind. */
export const BAR_REACH = 1

/** The lowest and highest pixel of a line in one column of pixels. */
export interface Bar {
  readonly x: number
  readonly top: number
  readonly bottom: number
}

/** A line of many points as one bar for each column of pixels; neighbours touch, unless there is a
 * gap between them. */
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

/** Draws a dense line. Its dashes are counted along the axis: along its own length they would melt
 * into one. */
export function drawBars(ctx: LineContext, points: readonly number[], style: LineStyle): void {
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
