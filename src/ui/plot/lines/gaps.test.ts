import { expect, test } from 'vitest'
import { Series } from '../../../host/columns/series.ts'
import { withGaps } from './gaps.ts'

const rows = ({ steps, values, length }: ReturnType<typeof withGaps>) =>
  Array.from({ length }, (_, i) => [steps[i], values[i]])

test('a step that was not measured is a gap, also in columns that grow', () => {
  const series = new Series()
  for (const step of [1, 2, 5]) series.push(step, 10 * step)
  const before = withGaps(series)
  expect(rows(before)).toEqual([
    [1, 10],
    [2, 20],
    [3.5, Number.NaN],
    [5, 50],
  ])
  series.push(6, 60)
  series.push(9, 90)
  expect(withGaps(series)).toBe(before)
  expect(rows(before).slice(4)).toEqual([
    [6, 60],
    [7.5, Number.NaN],
    [9, 90],
  ])
})

test('what thinning left out is no gap, but what lies between its buckets is', () => {
  const steps = Float64Array.from([0, 5, 11, 12, 13, 20])
  const series = Series.of(steps, steps, { every: 4, until: 11 })
  // 0 and 5 lie in neighbouring buckets, as 5 and 11 do; 20 follows rows that are all there.
  expect(rows(withGaps(series)).map(([step]) => step)).toEqual([0, 5, 11, 12, 13, 16.5, 20])
})
