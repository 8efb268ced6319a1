import { expect, test } from 'vitest'
import { expectClose } from '../testing.ts'
import { decodeLinearRef, decodeSwigluRef } from './decode.ref.ts'

test('decode_linear_ref multiplies rows by rows and adds a residual or a bias', () => {
  const [a, b] = [
    [1, 2, 3, 4],
    [1, 0, 0, 1, 1, 1],
  ]
  const size = { m: 2, n: 3, k: 2 }
  expect([...decodeLinearRef(a, b, size)]).toEqual([1, 2, 3, 3, 4, 7])
  expect([...decodeLinearRef(a, b, size, [10, 20, 30])]).toEqual([11, 22, 33, 13, 24, 37])
  const residual = [1, 1, 1, 2, 2, 2]
  expect([...decodeLinearRef(a, b, size, residual)]).toEqual([2, 3, 4, 5, 6, 9])
})

test('decode_swiglu_ref: gate rows come first, up rows after them', () => {
  // Gates 0, 2, up 5, 7: silu(0) = 0, silu(2) = 2 / (1 + e^-2).
  const out = decodeSwigluRef([1], [0, 2, 5, 7], { m: 1, n: 2, k: 1 })
  expectClose(out, [0, (2 / (1 + Math.exp(-2))) * 7])
})
