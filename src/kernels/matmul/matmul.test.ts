import { expect, test } from 'vitest'
import { numericGradient, weightedSum } from '../numericGradient.ref.ts'
import { expectClose, randomValues } from '../testing.ts'
import { matmul_nn_ref, matmul_nt_add_ref, matmul_nt_ref, matmul_tn_ref } from './matmul.ref.ts'

test('the three products of a 2 x 3 matrix agree with hand numbers', () => {
  const shape = { m: 2, n: 2, k: 3 }
  const a = [1, 2, 3, 4, 5, 6]
  expect([...matmul_nn_ref(a, [1, 0, 0, 1, 2, 2], shape)]).toEqual([7, 8, 16, 17])
  expect([...matmul_nt_ref(a, [1, 0, 2, 0, 1, 2], shape)]).toEqual([7, 8, 16, 17])
  expect([...matmul_tn_ref([1, 4, 2, 5, 3, 6], [1, 0, 0, 1, 2, 2], shape)]).toEqual([7, 8, 16, 17])
})

test('an addend of stride n is a residual, of stride 0 a bias for every row', () => {
  const [a, b, shape] = [[1, 2], [1, 10], { m: 2, n: 2, k: 1 }] as const
  const residual = matmul_nt_add_ref(a, b, [1, 2, 3, 4], { ...shape, addend_stride: 2 })
  expect([...residual]).toEqual([2, 12, 5, 24])
  const bias = matmul_nt_add_ref(a, b, [1, 2], { ...shape, addend_stride: 0 })
  expect([...bias]).toEqual([2, 12, 3, 22])
})

test('nn and tn are the gradients of nt', () => {
  const [tokens, width_in, width_out] = [3, 5, 4]
  const x = randomValues(tokens * width_in, 1)
  const weight = randomValues(width_out * width_in, 2)
  const d_y = randomValues(tokens * width_out, 3)
  const shape = { m: tokens, n: width_out, k: width_in }
  const d_x = matmul_nn_ref(d_y, weight, { m: tokens, n: width_in, k: width_out })
  const d_weight = matmul_tn_ref(d_y, x, { m: width_out, n: width_in, k: tokens })
  const loss_x = (value: Float64Array) => weightedSum(matmul_nt_ref(value, weight, shape), d_y)
  const loss_weight = (value: Float64Array) => weightedSum(matmul_nt_ref(x, value, shape), d_y)
  expectClose(d_x, numericGradient(loss_x, x), { atol: 1e-8 })
  expectClose(d_weight, numericGradient(loss_weight, weight), { atol: 1e-8 })
})
