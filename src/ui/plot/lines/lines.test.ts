import { expect, test } from 'vitest'
import { indexAt } from '../../scales/columns.ts'
import { extentIn, extentOf } from '../../scales/extent.ts'
import type { View } from '../../scales/view.ts'
import { columnsOf, recordingContext } from '../../shown/testing.ts'
import { lineBars } from './bars.ts'
import { drawLine } from './draw_line.ts'
import { linePoints } from './line_points.ts'

const view: View = { x: [0, 10], y: [0, 1], width: 100, height: 50 }
const style = { color: 'red', width: 2, dash: [], dots: false }
const { NaN: gap } = Number

test('values land where the axes say, with y upwards', () => {
  expect(linePoints(columnsOf([0, 0.5, 1]), view)).toEqual([0, 50, 10, 25, 20, 0])
})

test('entries past the length are not drawn', () => {
  expect(linePoints({ steps: [0, 1, 9], values: [0, 1, 7], length: 2 }, view)).toHaveLength(4)
})

test('NaN is a gap: the line stops and starts again', () => {
  const { ctx, calls } = recordingContext()
  drawLine(ctx, columnsOf([0, 0, gap, 1, 1]), view, style)
  expect(calls.filter((call) => /To /.test(call))).toEqual([
    'moveTo 0 50',
    'lineTo 10 50',
    'moveTo 30 0',
    'lineTo 40 0',
  ])
})

test('a value alone between gaps is a dot, because a line of one point shows nothing', () => {
  const { ctx, calls } = recordingContext()
  drawLine(ctx, columnsOf([gap, 0.5, gap]), view, style)
  expect(calls.filter((call) => call.startsWith('arc'))).toEqual(['arc 10 25'])
})

test('a long run keeps every spike and draws at most four points per pixel', () => {
  const values: number[] = Array.from({ length: 20_000 }, (_, i) => (i === 12_345 ? 1 : 0.1))
  values[17_000] = 0
  const points = linePoints(columnsOf(values), { ...view, x: [0, 20_000] })
  expect(points.length / 2).toBeLessThanOrEqual(4 * 101)
  const heights = points.filter((_, i) => i % 2 === 1)
  expect(Math.min(...heights)).toBe(0)
  expect(Math.max(...heights)).toBe(50)
  const across = points.filter((_, i) => i % 2 === 0)
  expect(across).toEqual(across.toSorted((a, b) => a - b))
})

test('a dense line is a bar for each column of pixels, without a hole and with every spike', () => {
  const values = Array.from({ length: 20_000 }, (_, i) => (i === 12_345 ? 1 : 0.1 + (i % 7) / 100))
  const dense = { ...view, x: [0, 20_000] as const }
  const bars = lineBars(linePoints(columnsOf(values), dense))
  expect(bars.length).toBeLessThanOrEqual(101)
  expect(Math.min(...bars.map(({ top }) => top))).toBe(0)
  for (let i = 1; i < bars.length; i++) {
    expect(bars[i].top).toBeLessThanOrEqual(bars[i - 1].bottom)
    expect(bars[i].bottom).toBeGreaterThanOrEqual(bars[i - 1].top)
  }
  const { ctx, calls } = recordingContext()
  drawLine(ctx, columnsOf(values), dense, { ...style, dash: [3, 2] })
  const drawn = calls.filter((call) => call.startsWith('fillRect'))
  expect(drawn.length).toBeGreaterThan(55)
  expect(drawn.length).toBeLessThan(66)
  expect(calls.some((call) => call.startsWith('stroke'))).toBe(false)
})

test('a gap of a dense line stays one', () => {
  expect(lineBars([0, 5, 0.5, 7, 1, gap, 2, 9, 3, 4])).toEqual([
    { x: 0, top: 5, bottom: 7 },
    { x: 2, top: 9, bottom: 9 },
    { x: 3, top: 4, bottom: 9 },
  ])
})

test('the value under the crosshair is the newest one until then', () => {
  const columns = { steps: [10, 20, 30], values: [1, 2, 3], length: 3 }
  expect([9, 10, 19, 20, 99].map((step) => indexAt(columns, step))).toEqual([-1, 0, 0, 1, 2])
})

test('the extent follows columns that grow, and leaves NaN out', () => {
  const columns = { steps: [0, 1, 2], values: [3, gap, -1], length: 1 }
  expect(extentOf(columns)).toEqual([3, 3])
  columns.length = 3
  expect(extentOf(columns)).toEqual([-1, 3])
})

test('a range has its own extent, and it counts what a logarithmic axis cannot show', () => {
  const columns = { ...columnsOf([9, 0, 2, -1, 5, 99]), length: 4 }
  expect(extentIn(columns, [1, 4])).toMatchObject({
    min: -1,
    max: 2,
    minPositive: 2,
    notPositive: 2,
  })
  columns.length = 6
  expect(extentIn(columns, [1, 4])).toMatchObject({ min: -1, max: 5 })
  expect(extentOf(columns)).toEqual([-1, 99])
})

test('what stands behind another line is faint, and nothing after it is', () => {
  const { ctx, calls } = recordingContext()
  ctx.stroke = () => calls.push(`alpha ${ctx.globalAlpha}`)
  drawLine(ctx, columnsOf([0, 1]), view, { ...style, opacity: 0.25 })
  drawLine(ctx, columnsOf([0, 1]), view, style)
  expect(calls.filter((call) => call.startsWith('alpha'))).toEqual(['alpha 0.25', 'alpha 1'])
})
