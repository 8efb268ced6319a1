// Paints the layer × step picture: one row per layer, row 0 (the embedding) at the bottom.

import { type Columns, lowerBound } from '../../scales/columns.ts'
import { type EditMark, editLabels } from '../../scales/geometry.ts'
import type { Rgb } from '../../scales/palette.ts'
import { placeOf } from '../../scales/step_scale.ts'
import { type Across, pixelStep, placesOf, stepPixel, type View } from '../../scales/view.ts'
import type { LineContext } from '../lines/line_style.ts'

type MarkContext = Pick<
  LineContext,
  'beginPath' | 'moveTo' | 'lineTo' | 'stroke' | 'setLineDash' | 'strokeStyle' | 'lineWidth'
>

type WordContext = MarkContext &
  Pick<
    CanvasRenderingContext2D,
    'font' | 'textAlign' | 'fillStyle' | 'fillRect' | 'measureText' | 'fillText'
  >

const EDIT_FONT = '11px system-ui, sans-serif'
/** A column of pixels, which may be a little wider than a CSS pixel, ends before the next. */
export const HEAT_REACH = 1
/** Below the upper end of the plot, px. */
const EDIT_BASELINE = 11

/** The entry nearest to `step` from `index` on, by steps that double: few entries or hundreds may
 * share a pixel. */
function nearestFrom({ steps, length }: Columns, index: number, step: number): number {
  const isReached = (i: number) => i < length && (steps[i - 1] + steps[i]) / 2 < step
  let at = index
  let jump = 1
  for (; isReached(at + jump); jump *= 2) at += jump
  for (; jump >= 1; jump /= 2) if (isReached(at + jump)) at += jump
  return at
}

/** RGBA of a ramp as a pixel of ImageData holds them in this machine's byte order. */
function packed(ramp: readonly Rgb[]): Uint32Array {
  let colours = packs.get(ramp)
  if (!colours) {
    const bytes = new Uint8ClampedArray(ramp.flatMap(([r, g, b]) => [r, g, b, 255]))
    colours = new Uint32Array(bytes.buffer)
    packs.set(ramp, colours)
  }
  return colours
}
const packs = new WeakMap<readonly Rgb[], Uint32Array>()

/** The columns of pixels from `first` on of a picture that is `width` of them wide, over the steps
 * `x`. */
export interface HeatSize extends Pick<Across, 'x' | 'width' | 'scale'> {
  /** 0 where it is not given. */
  readonly first?: number
  /** The newest step of the run: nothing is painted of steps that are still to come. Without a
   * limit where it is not given. */
  readonly reached?: number
  /** A measurement fills so many steps around its own; where its neighbours are further, nothing is
   * painted between them. Without a limit where it is not given. */
  readonly heldSteps?: number
}

/** Columns of pixels that a measurement far from the next has at least on either side. */
const LEAST_HELD = 6

/** Steps from one measurement to the next, in the median; 1 where there are too few. */
export function typicalGap({ steps, length }: Columns): number {
  const gaps = Array.from({ length: Math.max(0, length - 1) }, (_, i) => steps[i + 1] - steps[i])
  return gaps.sort((a, b) => a - b)[gaps.length >> 1] ?? 1
}

/** The columns of pixels that a row fills, the end not included: from half a step before its first
 * measurement to half a gap after the newest, but no further than the run has come. */
function filled({ steps, length }: Columns, size: HeatSize): readonly [number, number] {
  const { reached = Number.POSITIVE_INFINITY, heldSteps } = size
  const newest = steps[length - 1]
  const gap = length > 1 ? newest - steps[length - 2] : 1
  const until = Math.min(newest + gap / 2, Math.max(reached, newest + 0.5))
  // Of moments that lie far apart each is seen.
  const least = heldSteps === undefined ? 0 : LEAST_HELD
  const start = Math.min(stepPixel(steps[0] - 0.5, size), stepPixel(steps[0], size) - least)
  const end = Math.max(stepPixel(until, size), stepPixel(newest, size) + least)
  return [Math.max(size.first ?? 0, Math.round(start)), Math.min(size.width, Math.round(end))]
}

/** RGBA of a picture `width` − `first` × rows.length, top row = last layer, row 0 in colours of its
 * own. A column of pixels shows the measurement nearest to it, so that a step lies in the middle of
 * its colour, where lines and marks have it too. Pixels outside what was measured, and NaN, stay
 * transparent. */
export function heatmapPixels(
  rows: readonly (Columns | undefined)[],
  size: HeatSize,
  scaleMax: number,
  ramp: readonly Rgb[],
  firstRamp = ramp,
): Uint8ClampedArray<ArrayBuffer> {
  const { width, first = 0, heldSteps = Number.POSITIVE_INFINITY } = size
  const across = width - first
  const pixels = new Uint32Array(across * rows.length)
  rows.forEach((columns, row) => {
    if (!columns || columns.length === 0) return
    const colours = packed(row === 0 ? firstRamp : ramp)
    const factor = (colours.length - 1) / (scaleMax || 1)
    const { steps, values } = columns
    const atLeft = (rows.length - 1 - row) * across - first
    const [start, end] = filled(columns, size)
    const isFar = (column: number, step: number) =>
      Math.abs(pixelStep(column + 0.5, size) - step) > heldSteps / 2 &&
      Math.abs(column + 0.5 - stepPixel(step, size)) > LEAST_HELD
    let index = Math.max(0, lowerBound(columns, pixelStep(start, size)) - 1)
    for (let column = start; column < end; column++) {
      index = nearestFrom(columns, index, pixelStep(column + 0.5, size))
      const value = values[index]
      if (!Number.isFinite(value)) continue
      if (isFar(column, steps[index])) continue
      const at = Math.round(Math.min(colours.length - 1, Math.max(0, value * factor)))
      pixels[atLeft + column] = colours[at]
    }
  })
  return new Uint8ClampedArray(pixels.buffer)
}

/** The first of `width` columns of pixels that is needed right of a pixel of the plot, within 0 …
 * width − 1. */
export const firstColumn = (from: number, view: View, width: number): number =>
  Math.min(width - 1, Math.max(0, Math.floor((from / view.width) * width) - 1))

/** Pixels from one line of the hatching to the next. */
const HATCH = 6
/** It reads on the page in both themes, and no colour of a ramp is grey. */
const HATCH_COLOR = '#8a8f98'

/** Hatches the steps that the run has reached, right of the pixel `from`: what is measured is
 * painted over it. An empty ground would be read as a value: as a bright one in the light theme, as
 * a dark one in the dark theme. */
export function hatchReached(ctx: MarkContext, view: View, reached: number, from = 0): void {
  const { width, height } = view
  const end = Math.min(width, stepPixel(reached, view))
  ctx.lineWidth = 1
  ctx.strokeStyle = HATCH_COLOR
  ctx.beginPath()
  for (let x = Math.ceil((from - height) / HATCH) * HATCH; x < end; x += HATCH) {
    const [low, high] = [Math.max(0, from - x), Math.min(height, end - x)]
    if (high <= low) continue
    ctx.moveTo(x + low, height - low)
    ctx.lineTo(x + high, height - high)
  }
  ctx.stroke()
}

/** Marks steps with dashed lines that show on any colour; those at or before the axis are left
 * out, and with `from` those that do not reach right of that pixel. */
export function drawMarks(
  ctx: MarkContext,
  steps: readonly number[],
  view: View,
  from = Number.NEGATIVE_INFINITY,
): void {
  ctx.lineWidth = 1
  for (const step of steps) {
    if (step <= view.x[0] || step >= view.x[1]) continue
    const x = Math.round(stepPixel(step, view)) + 0.5
    if (x + 1 > from) drawUpright(ctx, x, view.height, [], [4, 4])
  }
}

/** A line in black dashes and one in white over it: it shows on any colour. */
function drawUpright(
  ctx: MarkContext,
  x: number,
  height: number,
  black: readonly number[],
  white: readonly number[],
): void {
  for (const [color, dash] of [
    ['#0b0f1a', black],
    ['#ffffff', white],
  ] as const) {
    ctx.strokeStyle = color
    ctx.setLineDash([...dash])
    ctx.beginPath()
    ctx.moveTo(x, 0)
    ctx.lineTo(x, height)
    ctx.stroke()
  }
  ctx.setLineDash([])
}

/** Marks steps at which something was changed with dotted lines and their words, which show on any
 * colour too. */
export function drawEdits(ctx: WordContext, edits: readonly EditMark[], view: View): void {
  const shown = edits.filter(({ step }) => step > view.x[0] && step < view.x[1])
  const placed = shown.map((edit) => ({ ...edit, step: placeOf(edit.step, view.scale) }))
  ctx.font = EDIT_FONT
  const widthOf = (text: string) => ctx.measureText(text).width
  const labels = editLabels(placed, placesOf(view.x, view.scale), view.width, widthOf)
  for (const [i, { step }] of shown.entries()) {
    const x = Math.round(stepPixel(step, view)) + 0.5
    ctx.lineWidth = 1.5
    drawUpright(ctx, x, view.height, [1, 3], [0, 2, 1, 1])
    const { text, isBefore } = labels[i]
    ctx.textAlign = isBefore ? 'right' : 'left'
    const width = widthOf(text)
    const at = x + (isBefore ? -6 : 6)
    ctx.fillStyle = '#0b0f1acc'
    ctx.fillRect(at - (isBefore ? width : 0) - 3, 1, width + 6, EDIT_BASELINE + 3)
    ctx.fillStyle = '#ffffff'
    ctx.fillText(text, at, EDIT_BASELINE)
  }
}

/** Layer under a vertical position in a plot of `height` pixels with `rows` rows; bottom row =
 * 0. */
export function rowAt(y: number, height: number, rows: number): number {
  return Math.min(rows - 1, Math.max(0, Math.floor(((height - y) / height) * rows)))
}
