import { test } from 'vitest'
import { numericGradient, weightedSum } from '../numericGradient.ref.ts'
import { expectClose, randomValues } from '../testing.ts'
import { rmsNormBackwardRef, rmsNormForwardRef } from './rms_norm.ref.ts'

test('a row is divided by its root mean square and scaled by the weight', () => {
  // mean(1, 49) = 25; with eps 11 the root is 6.
  const x = [1, 7]
  expectClose(rmsNormForwardRef(x, [1, 2], { rows: 1, cols: 2, eps: 0 }).y, [1 / 5, 14 / 5])
  expectClose(rmsNormForwardRef(x, [1, 2], { rows: 1, cols: 2, eps: 11 }).y, [1 / 6, 14 / 6])
})

test('the backward is the gradient of the forward', () => {
  const shape = { rows: 3, cols: 5, eps: 1e-2 }
  const [x, weight, d_y] = [randomValues(15, 1), randomValues(5, 2), randomValues(15, 3)]
  const { d_x, d_weight } = rmsNormBackwardRef(x, weight, d_y, shape)
  const lossX = (value: Float64Array) => weightedSum(rmsNormForwardRef(value, weight, shape).y, d_y)
  const lossWeight = (value: Float64Array) => weightedSum(rmsNormForwardRef(x, value, shape).y, d_y)
  expectClose(d_x, numericGradient(lossX, x), { atol: 1e-8 })
  expectClose(d_weight, numericGradient(lossWeight, weight), { atol: 1e-8 })
})
