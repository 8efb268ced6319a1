import { expect, test } from 'vitest'
import { numericGradient, weightedSum } from '../numericGradient.ref.ts'
import { expectClose, randomValues } from '../testing.ts'
import { matmulNnRef, matmulNtAddRef, matmulNtRef, matmulTnRef } from './matmul.ref.ts'

test('the three products of a 2 x 3 matrix agree with hand numbers', () => {
  const shape = { m: 2, n: 2, k: 3 }
  const a = [1, 2, 3, 4, 5, 6]
  expect([...matmulNnRef(a, [1, 0, 0, 1, 2, 2], shape)]).toEqual([7, 8, 16, 17])
  expect([...matmulNtRef(a, [1, 0, 2, 0, 1, 2], shape)]).toEqual([7, 8, 16, 17])
  expect([...matmulTnRef([1, 4, 2, 5, 3, 6], [1, 0, 0, 1, 2, 2], shape)]).toEqual([7, 8, 16, 17])
})

test('an addend of stride n is a residual, of stride 0 a bias for every row', () => {
  const [a, b, shape] = [[1, 2], [1, 10], { m: 2, n: 2, k: 1 }] as const
  const residual = matmulNtAddRef(a, b, [1, 2, 3, 4], { ...shape, addend_stride: 2 })
  expect([...residual]).toEqual([2, 12, 5, 24])
  const bias = matmulNtAddRef(a, b, [1, 2], { ...shape, addend_stride: 0 })
  expect([...bias]).toEqual([2, 12, 3, 22])
})

test('nn and tn are the gradients of nt', () => {
  const [tokens, widthIn, widthOut] = [3, 5, 4]
  const x = randomValues(tokens * widthIn, 1)
  const weight = randomValues(widthOut * widthIn, 2)
  const d_y = randomValues(tokens * widthOut, 3)
  const shape = { m: tokens, n: widthOut, k: widthIn }
  const d_x = matmulNnRef(d_y, weight, { m: tokens, n: widthIn, k: widthOut })
  const d_weight = matmulTnRef(d_y, x, { m: widthOut, n: widthIn, k: tokens })
  const lossX = (value: Float64Array) => weightedSum(matmulNtRef(value, weight, shape), d_y)
  const lossWeight = (value: Float64Array) => weightedSum(matmulNtRef(x, value, shape), d_y)
  expectClose(d_x, numericGradient(lossX, x), { atol: 1e-8 })
  expectClose(d_weight, numericGradient(lossWeight, weight), { atol: 1e-8 })
})
