import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { placeLabels } from './place_labels.ts'

test('a label is beside its line where nothing is in the way', () => {
  expect(placeLabels([20, undefined, 60], 10, 100)).toEqual([15, undefined, 55])
  // Within the plot, and one above the other.
  expect(placeLabels([0, 100], 10, 100)).toEqual([0, 90])
  expect(placeLabels([50, 52], 10, 100)).toEqual([45, 55])
  expect(placeLabels([1, 2, 3], 40, 100)).toEqual([undefined, undefined, undefined])
})

test('labels never overlap, and keep the order of their lines', () => {
  const ys = fc.array(fc.integer({ min: -20, max: 220 }), { maxLength: 15 })
  fc.assert(
    fc.property(ys, (ys) => {
      const tops = placeLabels(ys, 13, 200)
      const sorted = ys.map((y, i) => ({ y, top: tops[i] ?? 0 })).sort((a, b) => a.top - b.top)
      sorted.forEach(({ y, top }, i) => {
        expect(top).toBeGreaterThanOrEqual(-1e-9)
        expect(top).toBeLessThanOrEqual(187 + 1e-9)
        if (i === 0) return
        expect(top - sorted[i - 1].top).toBeGreaterThanOrEqual(13 - 1e-9)
        expect(y).toBeGreaterThanOrEqual(sorted[i - 1].y)
      })
    }),
  )
})
