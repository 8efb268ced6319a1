import { expect, test } from 'vitest'

import { expectClose } from '../../kernels/testing.ts'
import { linear, linearBackward, logSoftmax, rmsNorm, rotate } from './operations.ref.ts'

test('rms_norm adds eps under the root', () => {
  // mean(x²) = 1, and 1 / √(1 + 3) = 1/2.
  const y = rmsNorm(Float64Array.of(1, -1, 1, 1), Float64Array.of(2, 6), 3)
  expectClose(y, [1, -3, 1, 3], { atol: 1e-15, rtol: 0 })
})

test('the rotation pairs element i with i + D/2 and turns by position times frequency', () => {
  const batch = { input_ids: [], attention_mask: [], position_ids: [0, 1], rows: 1, width: 2 }
  const x = Float64Array.of(1, 2, 3, 4, 1, 2, 3, 4)
  // Frequencies of a quarter and half a turn: (1, 3) → (−3, 1), (2, 4) → (−2, −4).
  const turned = rotate(x, batch, [Math.PI / 2, Math.PI], 1)
  expectClose(turned, [1, 2, 3, 4, -3, -2, 1, -4], { atol: 1e-14, rtol: 0 })
  expectClose(rotate(turned, batch, [Math.PI / 2, Math.PI], -1), x, { atol: 1e-14, rtol: 0 })
})

test('linear multiplies by the transposed weight, and its backward adds to what is there', () => {
  const params = {
    'w.weight': Float64Array.of(1, 2, 3, 4, 5, 6),
    'w.bias': Float64Array.of(1, 0, 0),
  }
  const x = Float64Array.of(1, 10)
  expectClose(linear(x, 2, params['w.weight'], params['w.bias']), [22, 43, 65])
  const grads = { 'w.weight': Float64Array.of(1, 1, 1, 1, 1, 1) }
  const d_x = linearBackward(params, grads, 'w', x, 2, Float64Array.of(1, 0, 2))
  expectClose(d_x, [11, 14])
  expect(grads).toEqual({
    'w.weight': Float64Array.of(2, 11, 1, 1, 3, 21),
    'w.bias': Float64Array.of(1, 0, 2),
  })
})

test('log_softmax survives large values', () => {
  expectClose(logSoftmax(Float64Array.of(1000, 1000)), [-Math.LN2, -Math.LN2], { atol: 1e-15 })
})
