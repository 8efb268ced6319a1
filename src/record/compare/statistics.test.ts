import { expect, test } from 'vitest'
import { meanBand, meanInterval, t975 } from './statistics.ts'

const columns = (steps: number[], values: number[]) => ({ steps, values, length: steps.length })

test('the interval of a mean is Student’s', () => {
  // Mean 2, standard deviation 1, n = 3: 4.30265 / √3.
  expect(meanInterval([1, 2, 3])).toEqual({
    n: 3,
    mean: 2,
    halfWidth: expect.closeTo(4.30265 / Math.sqrt(3), 10),
  })
  expect(meanInterval([1])).toBeUndefined()
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
  const runs = [columns([0], [1]), columns([0], [2]), columns([0], [3])]
  const band = meanBand(runs, 't95')
  expect(band?.low.values[0]).toBeCloseTo(2 - 4.30265 / Math.sqrt(3), 10)
  expect(meanBand(runs, 'range')?.low.values[0]).toBe(1)
  const [uncut, cut] = [band, meanBand(runs, 't95', [1, 2])]
  expect(uncut?.low.values[0]).toBeLessThan(1)
  expect(uncut?.high.values[0]).toBeGreaterThan(2)
  expect([cut?.low.values[0], cut?.high.values[0]]).toEqual([1, 2])
  expect(cut?.mean).toEqual(uncut?.mean)
  expect(meanBand(runs.slice(1, 2), 'range')).toBeUndefined()
})
