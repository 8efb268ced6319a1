import { expect, test } from 'vitest'

import { expectClose } from '../testing.ts'
import { entropyLossRef, sftLossRef } from './entropy_loss.ref.ts'

test('entropy is a weighted sum; its gradient has the coefficient', () => {
  const { entropy, d_entropy } = entropyLossRef(0.5, [2, Number.NaN, 4], [0.25, 0, 0.75])
  expect(entropy).toBe(3.5)
  expectClose(d_entropy, [-0.125, 0, -0.375])
})

test('cross-entropy is the mean over unmasked tokens', () => {
  const { loss, d_log_probs } = sftLossRef(1 / 2, [-1, -2, -5], [1, 1, 0])
  expect(loss).toBe(1.5)
  expectClose(d_log_probs, [-0.5, -0.5, 0])
})
