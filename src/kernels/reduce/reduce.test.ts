import { expect, test } from 'vitest'
import { reduce_rows_ref } from './reduce.ref.ts'

test('columns are summed over rows', () => {
  expect([...reduce_rows_ref([1, 2, 3, 4, 5, 6], { rows: 2, cols: 3 })]).toEqual([5, 7, 9])
})
