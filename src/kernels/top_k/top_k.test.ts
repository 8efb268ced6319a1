import { expect, test } from 'vitest'
import { expectClose } from '../testing.ts'
import { topKRef } from './top_k.ref.ts'

test('the likeliest come first, and the smaller id of equal ones', () => {
  const rows = [0, Math.log(2), 0, Math.log(4), Number.NEGATIVE_INFINITY, 0, 0, 0, 0, 0]
  const { ids, probs } = topKRef(rows, 5, 3)
  expect([...ids]).toEqual([3, 1, 0, 0, 1, 2])
  expectClose(probs, [4 / 8, 2 / 8, 1 / 8, 1 / 5, 1 / 5, 1 / 5])
})
