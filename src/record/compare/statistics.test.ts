import { expect, test } from 'vitest'
import { differenceInterval, meanBand, meanSpread, t975 } from './statistics.ts'

const columns = (steps: number[], values: number[]) => ({ steps, values, length: steps.length })

test('the interval of a mean is Student’s', () => {
  // Mean 3, variance 2.5, n = 5: 2.77645 · √(2.5 / 5).
  expect(meanSpread([1, 2, 3, 4, 5])).toEqual({
    n: 5,
    mean: 3,
    lowest: 1,
    highest: 5,
    halfWidth: expect.closeTo(2.77645 * Math.sqrt(0.5), 10),
  })
  // Of a few runs the lowest and the highest say what is known.
  expect(meanSpread([0.1, 0.9])).toEqual({ n: 2, mean: 0.5, lowest: 0.1, highest: 0.9 })
  expect(meanSpread([1])).toBeUndefined()
  expect(t975(1)).toBeCloseTo(12.7062, 4)
  expect(t975(1000)).toBe(t975(30))
})

test('a band is drawn where every run measured, and nowhere else', () => {
  const band = meanBand(
    [columns([0, 1, 2, 4], [1, 2, 3, 9]), columns([0, 2, 3, 4, 5], [3, 5, 7, Number.NaN, 1])],
    'range',
  )
  expect(band?.mean.steps).toEqual([0, 2, 4])
  expect(band?.mean.values).toEqual([2, 4, Number.NaN])
  expect(band?.low.values).toEqual([1, 3, Number.NaN])
  expect(band?.high.values).toEqual([3, 5, Number.NaN])
})

test('the two kinds of band differ, and one run has none', () => {
  const runs = [1, 2, 3, 4, 5].map((value) => columns([0], [value]))
  const band = meanBand(runs, 't95')
  expect(band?.low.values[0]).toBeCloseTo(3 - 2.77645 * Math.sqrt(0.5), 10)
  expect(meanBand(runs, 'range')?.low.values[0]).toBe(1)
  const [uncut, cut] = [band, meanBand(runs, 't95', [2, 4])]
  expect(uncut?.low.values[0]).toBeLessThan(2)
  expect(uncut?.high.values[0]).toBeGreaterThan(4)
  expect([cut?.low.values[0], cut?.high.values[0]]).toEqual([2, 4])
  // Two shares 9 points apart: Student's interval would reach beyond both ends of the measure.
  const two = meanBand([columns([0], [0.45]), columns([0], [0.54])], 't95')
  expect([two?.low.values[0], two?.high.values[0]]).toEqual([0.45, 0.54])
  expect(cut?.mean).toEqual(uncut?.mean)
  expect(meanBand(runs.slice(1, 2), 'range')).toBeUndefined()
})

test('the interval of a difference of means is that of Student’s t', () => {
  // Variances 1 and 4 of 3 values each: 4.30265 · √(1/3 + 4/3).
  const { low, high } = differenceInterval([1, 2, 3], [4, 6, 8])
  expect((low + high) / 2).toBeCloseTo(4, 12)
  expect((high - low) / 2).toBeCloseTo(5.5547, 4)
})
