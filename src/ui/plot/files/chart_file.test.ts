import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { columnsOf } from '../../shown/testing.ts'
import { chartCsv, chartJsonl, spread, stepTable } from './chart_file.ts'

const a = { name: 'a', columns: columnsOf([1, 2, Number.NaN, 4]) }
const b = { name: 'b, smoothed', columns: { steps: [1, 3], values: [0.5, 0.25], length: 2 } }

test('a table holds the shown steps of the shown lines, and quotes what must be', () => {
  expect(chartCsv([a, b], [1, 3])).toBe('step,a,"b, smoothed"\n1,2,0.5\n2,NaN,\n3,4,0.25\n')
  expect(chartCsv([a, b], [10, 20])).toBe('step,a,"b, smoothed"\n')
})

test('lines of JSON hold the same', () => {
  expect(chartJsonl([a, b], [3, 9])).toBe('{"step":3,"data":{"a":4,"b, smoothed":0.25}}\n')
})

test('two lines of one name stay two', () => {
  expect(chartCsv([a, a], [0, 0])).toBe('step,a,a (2)\n0,1,1\n')
})

test('a choice of indices holds both ends and is evenly spread', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5000 }), (length) => {
      const chosen = spread(length, 50)
      expect(chosen.length).toBe(Math.min(50, length))
      expect([chosen[0], chosen[chosen.length - 1]]).toEqual([0, length - 1])
      const gaps = chosen.slice(1).map((index, i) => index - chosen[i])
      expect(Math.max(0, ...gaps) - Math.min(...gaps, length)).toBeLessThanOrEqual(1)
    }),
  )
})

test('the table has the newest step first, a place for every line, and says what it leaves out', () => {
  const named = { ...a, label: 'the first' }
  const { columns, keys, rows, note } = stepTable([named, b], [0, 9], (value) => `${value}!`, 2)
  expect(columns).toEqual(['step', 'the first', 'b, smoothed'])
  expect(keys).toEqual(['step', 'a', 'b, smoothed'])
  expect(rows).toEqual([
    ['3', '4!', '0.25!'],
    ['1', '–', '0.5!'],
    ['0', '1!', '–'],
  ])
  expect(note).toContain('2 more are in the CSV file')
})
