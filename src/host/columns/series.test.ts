import { expect, test } from 'vitest'

import { Series } from './series.ts'

test('columns grow past their first size and keep gaps', () => {
  const series = new Series()
  for (let i = 0; i < 1000; i++) series.push(10 * i, i === 500 ? Number.NaN : i / 3)
  expect(series.length).toBe(1000)
  expect(series.steps[999]).toBe(9990)
  expect(series.values[999]).toBe(333) // float64: 999 / 3 exactly
  expect(series.values[255]).toBe(85)
  expect(series.values[500]).toBeNaN()
  expect(series.steps[500]).toBe(5000)
})
