import { expect, test } from 'vitest'
import { movedTo } from '../../shown/cursor.ts'
import { evenAxis, fittedScale, layerAxis, linearScale, logAxis, logScale, stopAt } from './axes.ts'

test('every layer has the same room, and its number is in the middle of it', () => {
  const axis = layerAxis(1, 4)
  expect(axis.stops).toEqual([1, 2, 3, 4])
  expect(axis.stops.map(axis.place)).toEqual([0.125, 0.375, 0.625, 0.875])
  expect(axis.place(0.5)).toBe(0)
  expect(layerAxis(0, 2).stops.map(layerAxis(0, 2).label)).toEqual(['emb', '1', '2'])
  expect([0, 1, 2].map(layerAxis(0, 2, true).label)).toEqual(['emb', '1', 'final'])
})

test('a share of the width falls on the nearest stop', () => {
  const axis = layerAxis(0, 3)
  expect(stopAt(axis, 0)).toBe(0)
  expect(stopAt(axis, 0.3)).toBe(1)
  expect(stopAt(axis, 5)).toBe(3)
  expect(stopAt(layerAxis(1, 0), 0.5)).toBeUndefined()
})

test('doubling k takes the same width everywhere', () => {
  const { place } = logAxis([1, 2, 4, 16])
  expect(place(2) - place(1)).toBeCloseTo(place(4) - place(2), 12)
  expect(place(16) - place(4)).toBeCloseTo(2 * (place(2) - place(1)), 12)
  expect(logAxis([8]).place(8)).toBe(0.5)
})

test('a fitted scale ends where its values do, with ticks in between', () => {
  const scale = fittedScale([-30.5, 0, 22.8, undefined])
  expect(scale.ticks).toEqual([-30, -20, -10, 0, 10, 20])
  expect(scale.place(-30.5)).toBeCloseTo(0.037)
  expect(scale.place(22.8)).toBeCloseTo(0.963)
  expect(fittedScale([0, 0]).ticks).toContain(0)
})

test('a linear scale holds its values and what it must', () => {
  const scale = linearScale([0.4, undefined, Number.NaN, 1.7], [0])
  expect(scale.ticks[0]).toBe(0)
  expect(scale.ticks[scale.ticks.length - 1]).toBeGreaterThanOrEqual(1.7)
  expect(scale.place(scale.ticks[0])).toBe(0)
  expect(scale.place(scale.ticks[scale.ticks.length - 1])).toBe(1)
})

test('a logarithmic scale spans whole powers of ten; zero and less are left out', () => {
  const scale = logScale([0, -1, 0.3, 40])
  expect(scale.ticks).toEqual([0.1, 1, 10, 100])
  expect(scale.place(1)).toBeCloseTo(1 / 3, 12)
  expect(logScale([2, 30]).ticks).toEqual([1, 2, 5, 10, 20, 50, 100])
  expect(logScale([]).ticks).toEqual([1, 2, 5, 10])
})

test('keys move along the stops and stay inside', () => {
  const stops = [1, 2, 4]
  expect(movedTo('ArrowLeft', stops, 4)).toBe(2)
  expect(movedTo('ArrowLeft', stops, 1)).toBe(1)
  expect(movedTo('ArrowRight', stops, 4)).toBe(4)
  expect(movedTo('ArrowRight', stops, 1)).toBe(2)
  expect(movedTo('Home', stops, undefined)).toBe(1)
  expect(movedTo('End', stops, 1)).toBe(4)
  expect(movedTo('ArrowLeft', stops, undefined)).toBe(2)
  expect(movedTo('x', stops, 1)).toBeUndefined()
  expect(movedTo('Home', [], 1)).toBeUndefined()
})

test('an axis of values far from 0 begins at the first of them where that is asked for', () => {
  const axis = evenAxis('accuracy', [0.65, 0.7, 0.75], String, true)
  expect([0.65, 0.75].map(axis.place)).toEqual([0, 1])
  expect(axis.ticks?.[0]).toBeGreaterThan(0.65)
  expect(evenAxis('accuracy', [0.65, 0.75], String).place(0)).toBe(0)
})

test('steps are whole, also where few of them are far apart', () => {
  const { ticks = [] } = evenAxis('step', [0, 5, 10], String)
  expect(ticks.every(Number.isInteger)).toBe(true)
  expect(ticks).toContain(10)
  expect(evenAxis('k', [0, 0.5, 1], String).ticks).toContain(0.5)
})
