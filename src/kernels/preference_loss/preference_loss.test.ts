import { expect, test } from 'vitest'

import { numericGradient } from '../numericGradient.ref.ts'
import { expectClose, randomValues } from '../testing.ts'
import { bradleyTerryRef } from './preference_loss.ref.ts'

test('two pairs by hand: one right by ln 3, one tied', () => {
  // sigmoid(ln 3) = 3/4, sigmoid(0) = 1/2.
  const { loss, accuracy, d_scores } = bradleyTerryRef([Math.log(3) + 1, 5, 1, 5])
  expect(loss).toBeCloseTo((Math.log(4 / 3) + Math.log(2)) / 2, 14)
  expect(accuracy).toBe(0.5)
  expectClose(d_scores, [-1 / 8, -1 / 4, 1 / 8, 1 / 4], { atol: 1e-15, rtol: 0 })
})

test('a margin of hundreds, right or wrong, stays finite', () => {
  expect(bradleyTerryRef([500, -500])).toMatchObject({ loss: 0, accuracy: 1 })
  const wrong = bradleyTerryRef([-500, 500])
  expect(wrong).toMatchObject({ loss: 1000, accuracy: 0 })
  expect([...wrong.d_scores]).toEqual([-1, 1])
})

test('the gradient is the finite difference of the loss', () => {
  const scores = randomValues(22, 1).map((x) => 4 * x)
  const slopes = numericGradient((x) => bradleyTerryRef(x, 0.3).loss, scores)
  expectClose(bradleyTerryRef(scores, 0.3).d_scores, slopes, { atol: 1e-9, rtol: 1e-8 })
})
