import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Columns } from '../../scales/columns.ts'
import { HEAT_RAMP } from '../../scales/palette.ts'
import type { View } from '../../scales/view.ts'
import { columnsOf, recordingContext } from '../../shown/testing.ts'
import { firstColumn, HEAT_REACH, heatmapPixels } from '../heat/heat.ts'
import { BAR_REACH, lineBars } from './bars.ts'
import { drawLine } from './draw_line.ts'
import { linePoints, REACH } from './line_points.ts'
import type { LineStyle } from './line_style.ts'
import { clearedFrom, drawnColumns, staleFrom } from './repaint.ts'
import { drawnOf, type Stroke } from './strokes.ts'

const view: View = { x: [0, 400], y: [0, 1], width: 200, height: 50 }
const style: LineStyle = { color: 'red', width: 2, dash: [], dots: false }
const value = fc.oneof(
  { weight: 8, arbitrary: fc.double({ min: 0, max: 1, noNaN: true }) },
  { weight: 1, arbitrary: fc.constant(Number.NaN) },
)
const series = fc.array(value, { minLength: 1, maxLength: 400 })
const until = (values: readonly number[], length: number): Columns => ({
  ...columnsOf(values),
  length,
})
const line = (columns: Columns): Stroke => ({ kind: 'line', columns, style })

/** [x, y] of a line as texts, without those left of a pixel. */
const pointsFrom = (points: readonly number[], from: number) =>
  points.flatMap((x, i) => (i % 2 === 0 && x >= from ? [`${x} ${points[i + 1]}`] : []))

test('left of what is stale a grown line has the points that it had', () => {
  fc.assert(
    fc.property(series, fc.nat(), (values, cut) => {
      const length = 1 + (cut % values.length)
      const columns = { ...until(values, length) }
      const before = drawnOf([line(columns)], view)
      const old = linePoints(columns, view)
      columns.length = values.length
      const from = staleFrom(before, drawnOf([line(columns)], view), view)
      if (from === Number.NEGATIVE_INFINITY) return
      const left = (points: readonly number[]) => {
        const right = new Set(pointsFrom(points, from))
        return pointsFrom(points, Number.NEGATIVE_INFINITY).filter((point) => !right.has(point))
      }
      expect(left(linePoints(columns, view))).toEqual(left(old))
    }),
  )
})

test('the end of a line has all that reaches right of a pixel', () => {
  fc.assert(
    fc.property(series, fc.integer({ min: -4, max: 204 }), (values, from) => {
      const columns = columnsOf(values)
      const [whole, end] = [linePoints(columns, view), linePoints(columns, view, from)]
      expect(whole.slice(whole.length - end.length)).toEqual(end)
      expect(pointsFrom(end, from - REACH)).toEqual(pointsFrom(whole, from - REACH))
      // A line that comes in from the left has a corner out there.
      if (end.length < whole.length) expect(end[2]).toBeLessThan(from - REACH)
    }),
  )
})

test('of a dense line the bars right of what is stale are those of the whole, and the others stay', () => {
  const values = Array.from({ length: 40_000 }, (_, i) => 0.5 + 0.4 * Math.sin(i * i))
  values[35_000] = Number.NaN
  fc.assert(
    fc.property(fc.integer({ min: 30_000, max: 39_900 }), fc.nat(200), (length, more) => {
      const columns = { ...until(values, length) }
      const wide: View = { ...view, x: [0, 50_000], width: 700 }
      const [before, old] = [drawnOf([line(columns)], wide), lineBars(linePoints(columns, wide))]
      columns.length = Math.min(values.length, length + more)
      const stale = staleFrom(before, drawnOf([line(columns)], wide), wide)
      const from = Math.min(700, stale)
      const whole = lineBars(linePoints(columns, wide))
      const end = lineBars(linePoints(columns, wide, from, BAR_REACH))
      const isLeft = ({ x }: { x: number }) => x < from
      expect(whole.filter(isLeft)).toEqual(old.filter(isLeft))
      expect(end.filter((bar) => !isLeft(bar))).toEqual(whole.filter((bar) => !isLeft(bar)))
      if (more > 0) expect(700 * (columns.length / 50_000) - from).toBeLessThan(6)
    }),
    { numRuns: 20 },
  )
})

test('nothing new is nothing to paint; other columns, fewer entries or another look are all of it', () => {
  const columns = { ...columnsOf([0, 0.5, 1]), length: 2 }
  const before = [drawnColumns(columns)]
  expect(staleFrom(before, [drawnColumns(columns)], view)).toBe(Number.POSITIVE_INFINITY)
  columns.length = 3
  expect(staleFrom(before, [drawnColumns(columns)], view)).toBe(-REACH)
  const all = Number.NEGATIVE_INFINITY
  expect(staleFrom(undefined, before, view)).toBe(all)
  expect(staleFrom(before, [], view)).toBe(all)
  expect(staleFrom(before, [drawnColumns(columnsOf([0, 0.5, 1]))], view)).toBe(all)
  expect(staleFrom([drawnColumns(columns)], before, view)).toBe(all)
  const look = { isDense: false, isMany: false, isCrowded: false }
  const crowded = { ...look, isCrowded: true }
  expect(staleFrom([drawnColumns(columns, look)], [drawnColumns(columns, crowded)], view)).toBe(all)
})

test('the line that was measured longest ago decides', () => {
  const often = { ...columnsOf(Array(400).fill(0.5)), length: 300 }
  const seldom = { steps: [0, 100, 300], values: [0, 1, 0], length: 2 }
  const before = drawnOf([line(often), line(seldom)], view)
  often.length = 301
  expect(staleFrom(before, drawnOf([line(often), line(seldom)], view), view)).toBe(149 - REACH)
  seldom.length = 3
  expect(staleFrom(before, drawnOf([line(often), line(seldom)], view), view)).toBe(50 - REACH)
})

test('what is cleared begins on a pixel of the canvas, or is all of it', () => {
  expect(clearedFrom(10.3, 4, 2)).toBe(10)
  expect(clearedFrom(10.3, 4, 1.25)).toBeCloseTo(17 / 1.25 - 4, 12)
  expect(clearedFrom(-4, 4, 1)).toBeUndefined()
  expect(clearedFrom(Number.NEGATIVE_INFINITY, 4, 1)).toBeUndefined()
})

test('the dashes of an end continue where the whole line has them, from its last gap', () => {
  const dashed = { ...style, dash: [3, 2] }
  const offsets: number[] = []
  const { ctx } = recordingContext()
  ctx.stroke = () => offsets.push(ctx.lineDashOffset)
  const flat = { ...view, x: [0, 20] as const }
  // 10 pixels a step; the end begins two corners before the first that reaches there.
  drawLine(ctx, columnsOf(Array(21).fill(0.5)), flat, dashed, 150)
  drawLine(
    ctx,
    columnsOf([...Array(5).fill(0.5), Number.NaN, ...Array(15).fill(0.5)]),
    flat,
    dashed,
    150,
  )
  drawLine(ctx, columnsOf(Array(21).fill(0.5)), flat, dashed)
  expect(offsets).toEqual([130, 70, 0])
})

test('the new columns of a heat map are those of the whole', () => {
  const rows = [0, 1, 2].map((row) =>
    columnsOf(Array.from({ length: 300 }, (_, i) => (i * (row + 7)) % 5)),
  )
  const size = { width: 120, x: [0, 400] } as const
  const whole = new Uint32Array(heatmapPixels(rows, size, 5, HEAT_RAMP).buffer)
  const first = firstColumn(70, { ...view, width: 120 }, 120)
  const part = new Uint32Array(heatmapPixels(rows, { ...size, first }, 5, HEAT_RAMP).buffer)
  expect(first).toBeLessThan(70)
  for (let row = 0; row < 3; row++)
    expect(part.slice(row * (120 - first), (row + 1) * (120 - first))).toEqual(
      whole.slice(row * 120 + first, (row + 1) * 120),
    )
})

test('a step of a heat map paints its own columns of pixels again, and what they were is left', () => {
  for (const [steps, added, width, most] of [
    // Of steps that share a column some are added.
    [50_000, 100, 700, 5],
    // Two steps, each two columns wide, and a column on either side of them.
    [300, 1, 700, 7],
  ]) {
    const values = Array.from({ length: steps }, (_, i) => (i * 7) % 5)
    const columns = { ...columnsOf(values), length: steps - added }
    const size = { width, x: [0, 1.2 * steps] } as const
    const own: View = { ...view, ...size }
    const drawn = () => [drawnColumns(columns, undefined, HEAT_REACH)]
    const [before, old] = [drawn(), heatmapPixels([columns], size, 5, HEAT_RAMP)]
    columns.length = steps
    const now = heatmapPixels([columns], size, 5, HEAT_RAMP)
    const first = firstColumn(staleFrom(before, drawn(), own), own, width)
    expect(now.slice(0, 4 * first)).toEqual(old.slice(0, 4 * first))
    expect(now).not.toEqual(old)
    const isPainted = (x: number) => now[4 * x + 3] > 0
    const painted = Array.from({ length: width - first }, (_, i) => first + i).filter(isPainted)
    expect(painted.length).toBeLessThanOrEqual(most)
  }
})

test('a measurement that is held for longer is painted again from its own step', () => {
  const columns = { steps: [0, 100], values: [0, 1], length: 2 }
  const held = (until: number) => [{ ...drawnColumns(columns, undefined, HEAT_REACH), until }]
  expect(staleFrom(held(120), held(120), view)).toBe(Number.POSITIVE_INFINITY)
  expect(staleFrom(held(120), held(121), view)).toBe(50 - HEAT_REACH)
})
