import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lengthBins, medianLength } from './lengths.ts'

test('every length is in one bin, and the bins are those of the range', () => {
  expect(lengthBins([1, 1, 3], 10)).toEqual([
    { from: 1, to: 1, count: 2 },
    { from: 2, to: 2, count: 0 },
    { from: 3, to: 3, count: 1 },
  ])
  expect(lengthBins([], 10)).toEqual([])
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1 }), (lengths) => {
      const bins = lengthBins(lengths, 24)
      expect(bins.length).toBeLessThanOrEqual(24)
      expect(bins[0].from).toBe(Math.min(...lengths))
      expect(bins.at(-1)?.to).toBe(Math.max(...lengths))
      for (const { from, to, count } of bins)
        expect(lengths.filter((one) => one >= from && one <= to)).toHaveLength(count)
    }),
  )
})

test('half of the rows are no longer than the median', () => {
  expect([medianLength([9, 1, 5]), medianLength([1, 2, 3, 4]), medianLength([])]).toEqual([5, 2, 0])
})
