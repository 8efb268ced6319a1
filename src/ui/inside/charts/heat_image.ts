// Layer × step pictures of what was kept: painted as whole words, so that a redraw of a long run fits in a frame many times over.

import { oklchToRgb, type Rgb } from '../../scales/palette.ts'
import { type Across, pixelStep, stepPixel } from '../../scales/view.ts'
import type { ObservedQuantity, Seen } from '../observed.ts'

/** Colours as words of RGBA bytes in this machine's order. */
export function packedRamp(ramp: readonly Rgb[]): Uint32Array {
  const bytes = new Uint8Array(ramp.length * 4)
  ramp.forEach(([r, g, b], i) => {
    bytes.set([r, g, b, 255], i * 4)
  })
  return new Uint32Array(bytes.buffer)
}

/** The same lightness without colour, for rows that count less. */
export const GREY_RAMP: readonly Rgb[] = Array.from({ length: 256 }, (_, i) =>
  oklchToRgb([0.25 + (0.65 * i) / 255, 0, 0]),
)

export interface HeatPlan extends Pick<Across, 'x' | 'width' | 'scale'> {
  readonly quantity: ObservedQuantity
  /** Layers of the quantity; row 0 of the picture is the last of them. */
  readonly rows: number
  /** Value of the brightest colour; 0 is the darkest. */
  readonly max: number
  readonly ramp: Uint32Array
  /** Colours of layer 0, where it counts less. */
  readonly first_ramp: Uint32Array
}

/** First index of an item at or after a step. */
function lowerBound(items: readonly Seen[], step: number): number {
  let [low, high] = [0, items.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (items[middle].step < step) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * Paints `out`, [rows, width] words, top row = last layer. A column of pixels shows the newest kept step at or before its right
 * edge; it is held until the next kept step, the newest for as long as the one before it. Kept steps without the quantity, NaN and
 * what lies outside stay transparent.
 */
export function paintHeat(items: readonly Seen[], plan: HeatPlan, out: Uint32Array): void {
  const { quantity, rows, width, x, max, ramp, first_ramp } = plan
  out.fill(0)
  if (items.length === 0) return
  const last = items.length - 1
  const gap = last > 0 ? items[last].step - items[last - 1].step : 1
  const start = Math.max(0, Math.floor(stepPixel(items[0].step, plan)))
  const end = Math.min(width, Math.ceil(stepPixel(items[last].step + gap, plan)))
  const scale = (ramp.length - 1) / (max || 1)
  let index = Math.max(0, lowerBound(items, x[0]) - 1)
  for (let column = start; column < end; column++) {
    const right = pixelStep(column + 1, plan)
    while (index < last && items[index + 1].step < right) index++
    const values = items[index].item.mean[quantity]
    if (!values) continue
    for (let row = 0; row < rows; row++) {
      const value = values[row]
      if (!(value > Number.NEGATIVE_INFINITY && value < Number.POSITIVE_INFINITY)) continue
      const level = Math.min(ramp.length - 1, Math.max(0, Math.round(value * scale)))
      out[(rows - 1 - row) * width + column] = (row === 0 ? first_ramp : ramp)[level]
    }
  }
}
