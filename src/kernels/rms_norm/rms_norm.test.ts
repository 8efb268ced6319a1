import { test } from 'vitest'
import { numericGradient, weightedSum } from '../numericGradient.ref.ts'
import { expectClose, randomValues } from '../testing.ts'
import { rms_norm_backward_ref, rms_norm_forward_ref } from './rms_norm.ref.ts'

test('a row is divided by its root mean square and scaled by the weight', () => {
  // mean(1, 49) = 25; with eps 11 the root is 6.
  const x = [1, 7]
  expectClose(rms_norm_forward_ref(x, [1, 2], { rows: 1, cols: 2, eps: 0 }).y, [1 / 5, 14 / 5])
  expectClose(rms_norm_forward_ref(x, [1, 2], { rows: 1, cols: 2, eps: 11 }).y, [1 / 6, 14 / 6])
})

test('the backward is the gradient of the forward', () => {
  const shape = { rows: 3, cols: 5, eps: 1e-2 }
  const [x, weight, d_y] = [randomValues(15, 1), randomValues(5, 2), randomValues(15, 3)]
  const { d_x, d_weight } = rms_norm_backward_ref(x, weight, d_y, shape)
  const loss_x = (value: Float64Array) =>
    weightedSum(rms_norm_forward_ref(value, weight, shape).y, d_y)
  const loss_weight = (value: Float64Array) =>
    weightedSum(rms_norm_forward_ref(x, value, shape).y, d_y)
  expectClose(d_x, numericGradient(loss_x, x), { atol: 1e-8 })
  expectClose(d_weight, numericGradient(loss_weight, weight), { atol: 1e-8 })
})
