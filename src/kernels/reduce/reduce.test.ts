import { expect, test } from 'vitest'
import { reduceRowsRef } from './reduce.ref.ts'
import { reduce_rows, reduce_rows_short, reduceRows } from './reduce.ts'

test('columns are summed over rows', () => {
  expect([...reduceRowsRef([1, 2, 3, 4, 5, 6], { rows: 2, cols: 3 })]).toEqual([5, 7, 9])
})

test('few rows are added in order, many in slices, and no grid is too wide', () => {
  expect([reduceRows(1), reduceRows(128)]).toEqual([reduce_rows_short, reduce_rows_short])
  expect(reduceRows(129)).toBe(reduce_rows)
  const grid = reduce_rows.workgroups({ rows: 64, cols: 2_000_000 })
  expect(grid).toEqual([62_500, 4])
})
