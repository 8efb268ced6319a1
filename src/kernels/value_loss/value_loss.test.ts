import { expect, test } from 'vitest'

import { numericGradient } from '../numericGradient.ref.ts'
import { expectClose, randomValues } from '../testing.ts'
import { valueLossRef } from './value_loss.ref.ts'

/** Loss, gradient and clip of one token whose old value is 0, clipped at ±1. */
function one(vpred: number, target: number) {
  const { loss, d_vpreds, metrics } = valueLossRef(
    { loss_agg_mode: 'token-mean', cliprange_value: 1 },
    { vpreds: [vpred], values: [0], returns: [target], response_mask: [1], response_length: 1 },
  )
  return [loss, d_vpreds[0], Math.round(metrics['critic/vf_clipfrac'])]
}

test('inside, past and away from the range, by hand', () => {
  expect(one(0.5, 2)).toEqual([1.125, -1.5, 0])
  // Beyond the range towards the target: the clipped error is the larger and nothing moves.
  expect(one(1.5, 3)).toEqual([2, 0, 1])
  // Beyond the range and past the target: the prediction's own error is the larger.
  expect(one(1.5, 0)).toEqual([1.125, 1.5, 0])
  // Equal errors on both sides of the target: half of the gradient, as torch has it.
  expect(one(2, 1.5)).toEqual([0.125, 0.25, 0])
})

test('the gradient is the finite difference of the loss, for every mean', () => {
  const shape = {
    response_length: 6,
    response_mask: Array.from({ length: 24 }, (_, i) => (i % 6 < 4 ? 1 : 0)),
  }
  const values = randomValues(24, 1)
  const returns = randomValues(24, 2)
  const vpreds = randomValues(24, 3)
  for (const loss_agg_mode of [
    'token-mean',
    'seq-mean-token-sum',
    'seq-mean-token-mean',
    'seq-mean-token-sum-norm',
  ] as const) {
    const config = { loss_agg_mode, cliprange_value: 0.4 }
    const loss = (x: ArrayLike<number>) =>
      valueLossRef(config, { ...shape, vpreds: x, values, returns })
    expectClose(
      loss(vpreds).d_vpreds,
      numericGradient((x) => loss(x).loss, vpreds),
      { atol: 1e-9, rtol: 1e-8 },
    )
    expect(loss(vpreds).metrics['critic/vf_clipfrac']).toBeGreaterThan(0.1)
  }
})

test('a wide range clips nothing, and masked tokens are not looked at', () => {
  const { loss, d_vpreds, metrics } = valueLossRef(
    { loss_agg_mode: 'token-mean', cliprange_value: 1e9 },
    {
      vpreds: [7, Number.NaN],
      values: [-7, Number.NaN],
      returns: [6, Number.NaN],
      response_mask: [1, 0],
      response_length: 2,
    },
  )
  expect([loss, ...d_vpreds]).toEqual([0.5, 1, 0])
  expect(metrics['critic/vf_clipfrac']).toBe(0)
  expect(metrics['critic/vpred_mean']).toBeCloseTo(7, 6)
})
