import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { toPixel } from '../../scales/view.ts'
import { columnsOf } from '../../shown/testing.ts'
import { isDrawn, keptIndices } from './decimate.ts'
import { linePoints } from './line_points.ts'

const value = fc.oneof(
  { weight: 8, arbitrary: fc.double({ min: -10, max: 10, noNaN: true }) },
  { weight: 1, arbitrary: fc.constant(Number.NaN) },
)
const series = fc.array(value, { minLength: 1, maxLength: 400 })
const view = { x: [0, 400], width: 20 } as const

test('every column of pixels keeps its extremes, its first and its last value', () => {
  fc.assert(
    fc.property(series, (values) => {
      const columns = columnsOf(values)
      const kept = keptIndices(columns, view).filter((i) => Number.isFinite(values[i]))
      const pixelOf = (i: number) => Math.floor(toPixel(i, view.x, view.width))
      for (let pixel = 0; pixel < view.width; pixel++) {
        const all = values.flatMap((v, i) =>
          pixelOf(i) === pixel && Number.isFinite(v) ? [v] : [],
        )
        const shown = kept.filter((i) => pixelOf(i) === pixel).map((i) => values[i])
        if (all.length === 0) continue
        expect(Math.min(...shown)).toBe(Math.min(...all))
        expect(Math.max(...shown)).toBe(Math.max(...all))
        expect([shown[0], shown[shown.length - 1]]).toEqual([all[0], all[all.length - 1]])
      }
    }),
  )
})

test('indices ascend, and every gap of the series is a gap of the line', () => {
  fc.assert(
    fc.property(series, (values) => {
      const kept = keptIndices(columnsOf(values), view)
      expect(kept).toEqual([...new Set(kept)].sort((a, b) => a - b))
      kept.forEach((index, at) => {
        if (at === 0) return
        const between = values.slice(kept[at - 1], index + 1)
        const isGap = between.some(Number.isNaN)
        const saysGap = Number.isNaN(values[kept[at - 1]]) || Number.isNaN(values[index])
        expect(saysGap).toBe(isGap)
      })
    }),
  )
})

test('a series that grows bit by bit keeps what it would have kept at once', () => {
  fc.assert(
    fc.property(series, fc.integer({ min: 1, max: 50 }), (values, part) => {
      const columns = { ...columnsOf(values), length: 0 }
      while (columns.length < values.length) {
        columns.length = Math.min(values.length, columns.length + part)
        keptIndices(columns, view)
      }
      expect([...keptIndices(columns, view)]).toEqual([...keptIndices(columnsOf(values), view)])
    }),
  )
})

test('a new step costs the same however many there are: no entry is looked at again', () => {
  const looksAtNewStep = (length: number) => {
    const values = Array.from({ length: length + 1 }, (_, i) => Math.sin(i * 0.7))
    let looks = 0
    const counted = new Proxy(values, {
      get(target, key) {
        if (typeof key === 'string' && /^\d+$/.test(key)) looks++
        return Reflect.get(target, key)
      },
    })
    const columns = { ...columnsOf(values), values: counted, length }
    const across = { x: [0, 60_000], width: 700 } as const
    keptIndices(columns, across)
    looks = 0
    columns.length++
    keptIndices(columns, across)
    keptIndices(columns, across)
    return looks
  }
  // Its own value, finite or not, and those of the extremes of its column of pixels.
  for (const length of [1000, 50_000]) {
    expect(looksAtNewStep(length)).toBeGreaterThan(0)
    expect(looksAtNewStep(length)).toBeLessThanOrEqual(6)
  }
})

test('a zoom keeps one entry on either side, so that the line leaves the plot', () => {
  const columns = columnsOf(Array.from({ length: 100 }, (_, i) => i))
  const kept = keptIndices(columns, { x: [40, 50], width: 500 })
  expect([kept[0], kept[kept.length - 1]]).toEqual([39, 51])
})

test('fifty thousand steps need at most four points per pixel, and the newest is among them', () => {
  const columns = columnsOf(Array.from({ length: 50_000 }, (_, i) => Math.sin(i * 0.7)))
  const kept = keptIndices(columns, { x: [0, 50_000], width: 800 })
  expect(kept.length).toBeLessThanOrEqual(4 * 801)
  expect(kept[kept.length - 1]).toBe(49_999)
})

test('on logarithmic axes what is not above 0 is a gap', () => {
  const columns = columnsOf([1, 0, -3, 100, 10])
  const log = { x: [1, 10], width: 100, logX: true, logY: true } as const
  expect([0, 1, 2, 3, 4].map((i) => isDrawn(columns, i, log))).toEqual([
    false,
    false,
    false,
    true,
    true,
  ])
  const points = linePoints(columns, { ...log, y: [1, 100], height: 50 })
  const drawn = points.filter((_, i) => i % 2 === 1 && !Number.isNaN(points[i]))
  expect(drawn).toEqual([0, 25])
})
