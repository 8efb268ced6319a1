import { expect, test } from 'vitest'
import { addVectorRef } from './add_vector.ref.ts'

test('every row gets the vector', () => {
  expect([...addVectorRef([1, 2, 3, 4, 5, 6], [10, 20, 30])]).toEqual([11, 22, 33, 14, 25, 36])
})
