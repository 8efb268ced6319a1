import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { fromPixel, toPixel } from './view.ts'
import { shownSteps, zoomBetween } from './zoom.ts'

const shown = (zoom: ReturnType<typeof zoomBetween>, newest: number) =>
  shownSteps({ zoom, newest, planned: 100 })

test('a range stays while the run continues', () => {
  const zoom = zoomBetween(30, 10, 60)
  expect(zoom).toEqual({ low: 10, high: 30 })
  expect([shown(zoom, 60), shown(zoom, 5000)]).toEqual([
    [10, 30],
    [10, 30],
  ])
})

test('a range that ends at the newest step follows the run', () => {
  const zoom = zoomBetween(40, 60.4, 60)
  expect(zoom).toEqual({ low: 40, high: undefined })
  expect(shown(zoom, 60)).toEqual([40, 60])
  expect(shown(zoom, 90)[1]).toBeGreaterThanOrEqual(90)
})

test('the whole run is no zoom', () => {
  expect(zoomBetween(-3, 60, 60)).toBeUndefined()
  expect(shownSteps({ zoom: undefined, newest: 60, planned: 100 })[0]).toBe(0)
})

test('a range holds at least one step and never lies past the newest', () => {
  const any = fc.double({ min: -50, max: 500, noNaN: true })
  fc.assert(
    fc.property(any, any, fc.integer({ min: 1, max: 400 }), (a, b, newest) => {
      const zoom = zoomBetween(a, b, newest)
      const [low, high] = shown(zoom, newest)
      expect(low).toBeGreaterThanOrEqual(0)
      expect(low).toBeLessThan(newest)
      expect(high).toBeGreaterThan(low)
    }),
  )
})

test('a pixel leads back to its value on even and logarithmic axes', () => {
  fc.assert(
    fc.property(fc.double({ min: 1, max: 1000, noNaN: true }), fc.boolean(), (value, isLog) => {
      const pixel = toPixel(value, [1, 1000], 300, isLog)
      expect(fromPixel(pixel, [1, 1000], 300, isLog)).toBeCloseTo(value, 6)
    }),
  )
  expect(toPixel(10, [1, 1000], 300, true)).toBeCloseTo(100)
  expect(toPixel(0, [1, 1000], 300, true)).toBeNaN()
})
