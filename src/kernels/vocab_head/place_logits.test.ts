import { expect, test } from 'vitest'
import { placeLogitsRef } from './place_logits.ref.ts'

test('each row’s part goes to its columns, and the others keep what they held', () => {
  const out = placeLogitsRef([1, 2, 3, 4], 2, [0, 0, 9, 0, 0, 9], 3, 0)
  expect([...out]).toEqual([1, 2, 9, 3, 4, 9])
  expect([...placeLogitsRef([7, 8], 1, out, 3, 2)]).toEqual([1, 2, 7, 3, 4, 8])
})
