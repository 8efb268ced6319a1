import { test } from 'vitest'
import { numericGradient, weightedSum } from '../numericGradient.ref.ts'
import { expectClose, randomValues } from '../testing.ts'
import { swigluBackwardRef, swigluForwardRef } from './swiglu.ref.ts'

test('silu of the first half times the second half', () => {
  // silu(0) = 0 and silu(ln 3) = 3/4 ln 3.
  const out = swigluForwardRef([0, Math.log(3), 5, 4], { rows: 1, intermediate_size: 2 })
  expectClose(out, [0, 3 * Math.log(3)])
})

test('the backward is the gradient of the forward', () => {
  const shape = { rows: 3, intermediate_size: 5 }
  const gateUp = randomValues(30, 1).map((x) => x * 4)
  const d_out = randomValues(15, 2)
  const loss = (x: Float64Array) => weightedSum(swigluForwardRef(x, shape), d_out)
  const expected = numericGradient(loss, gateUp)
  expectClose(swigluBackwardRef(gateUp, d_out, shape), expected, { atol: 1e-8 })
})
