import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { gutterLabels } from './place_labels.ts'

const SIZE = { width: 300, height: 200 }
const at = (y: number, x = 300) => ({ x, y })
const tops = (ys: readonly (number | undefined)[], height: number, size = SIZE) =>
  gutterLabels(
    ys.map((y) => (y === undefined ? undefined : at(y))),
    height,
    size,
  ).map((label) => label?.top)

test('a label is beside the end of its line where nothing is in the way', () => {
  const size = { width: 300, height: 100 }
  expect(tops([20, undefined, 60], 10, size)).toEqual([15, undefined, 55])
  // Within the plot, and one above the other.
  expect(tops([0, 100], 10, size)).toEqual([0, 90])
  expect(tops([50, 52], 10, size)).toEqual([45, 55])
  expect(tops([1, 2, 3], 40, size)).toEqual([undefined, undefined, undefined])
  // A line that ends early, as in a run that is on, is not drawn on.
  expect(gutterLabels([at(20, 100)], 10, size)[0]?.stroke).toEqual([
    { x: 302, y: 20 },
    { x: 302, y: 20 },
    { x: 311, y: 20 },
  ])
  // Only a leader of its own kind says which line the name is of.
  expect(gutterLabels([at(20, 100)], 10, size)[0]?.leader).toEqual([
    { x: 100, y: 20 },
    { x: 302, y: 20 },
  ])
  expect(gutterLabels([at(20, 292)], 10, size)[0]?.leader).toBeUndefined()
  expect(gutterLabels([at(20, 292)], 10, size)[0]?.stroke).toEqual([
    { x: 293, y: 20 },
    { x: 302, y: 20 },
    { x: 311, y: 20 },
  ])
})

test('labels lie right of every line, never overlap, and strokes of one height on do not cross', () => {
  // Ends that coincide, lie at an edge or outside a cut axis among them.
  const y = fc.oneof(fc.integer({ min: -20, max: 220 }), fc.constantFrom(0, 100, 100.4, 200))
  const end = fc.option(fc.record({ x: fc.integer({ min: 0, max: 320 }), y }), { nil: undefined })
  fc.assert(
    fc.property(fc.array(end, { maxLength: 15 }), (ends) => {
      const labels = gutterLabels(ends, 13, SIZE)
      expect(labels.map((label) => label !== undefined)).toEqual(ends.map((end) => !!end))
      const shown = labels.flatMap((label) => label ?? []).sort((a, b) => a.top - b.top)
      shown.forEach(({ left, top, stroke }, i) => {
        expect(left).toBeGreaterThan(SIZE.width + 2)
        expect(top).toBeGreaterThanOrEqual(-1e-9)
        expect(top).toBeLessThanOrEqual(SIZE.height - 13 + 1e-9)
        expect(stroke[2]).toEqual({ x: expect.any(Number), y: top + 6.5 })
        expect(stroke[2].x).toBeLessThan(left)
        if (i === 0) return
        expect(top - shown[i - 1].top).toBeGreaterThanOrEqual(13 - 1e-9)
        // Both ends of the sloped strokes have the same order.
        expect(stroke[1].y).toBeGreaterThanOrEqual(shown[i - 1].stroke[1].y)
      })
    }),
  )
})
