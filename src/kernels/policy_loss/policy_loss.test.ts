import { expect, test } from 'vitest'

import { expectClose, randomValues } from '../testing.ts'
import { policy_loss_vanilla_ref, sft_loss_ref } from './policy_loss.ref.ts'

const k = {
  clip_ratio_low: 0.2,
  clip_ratio_high: 0.3,
  clip_ratio_c: 3,
  inv_token_count: 1,
  entropy_coeff: 0,
}

/** Loss, gradient and sums of one token with this ratio and advantage. */
function one(ratio: number, advantage: number) {
  const { d_log_probs, sums } = policy_loss_vanilla_ref(k, {
    log_probs: [Math.log(ratio)],
    old_log_probs: [0],
    advantages: [advantage],
    response_mask: [1],
    entropy: [0],
  })
  const [loss, kl, clipfrac, clipfrac_lower] = sums
  return { loss, kl, clipfrac, clipfrac_lower, d: d_log_probs[0] }
}

test('the four sides of the clip, by hand', () => {
  // Inside the range: -A r.
  expect(one(1, 2)).toEqual({ loss: -2, kl: 0, clipfrac: 0, clipfrac_lower: 0, d: -2 })
  // Good token, ratio above the range: held at 1 + high, no gradient.
  expect(one(1.5, 2)).toMatchObject({ loss: -2.6, clipfrac: 1, clipfrac_lower: 0, d: 0 })
  // Good token below the range: still pulled up.
  expect(one(0.5, 2)).toMatchObject({ loss: -1, clipfrac: 0, d: -1 })
  // Bad token below the range: held at 1 - low.
  expect(one(0.5, -2)).toMatchObject({ loss: 1.6, clipfrac: 1, clipfrac_lower: 0, d: 0 })
  // Bad token far above: the dual clip holds the loss at -A c.
  expect(one(4, -2)).toMatchObject({ loss: 6, clipfrac: 0, clipfrac_lower: 1, d: 0 })
})

test('the log ratio is clamped to 20, and its gradient ends there', () => {
  const { loss, kl, d } = one(Math.exp(25), 0.001)
  expect([loss, kl, d]).toEqual([-0.001 * 1.3, -20, 0])
  expect(one(Math.exp(-25), 1)).toMatchObject({ loss: -Math.exp(-20), kl: 20, d: 0 })
})

test('the gradients are finite differences of the total loss', () => {
  const tokens = 40
  const batch = {
    log_probs: Float64Array.from(randomValues(tokens, 1), (x) => x - 2),
    old_log_probs: Float64Array.from(randomValues(tokens, 2), (x) => x - 2),
    advantages: randomValues(tokens, 3),
    response_mask: Float64Array.from({ length: tokens }, (_, i) => (i % 7 === 2 ? 0 : 1)),
    entropy: Float64Array.from(randomValues(tokens, 4)),
  }
  const c = { ...k, inv_token_count: 1 / 34, entropy_coeff: 0.01 }
  const total = () => {
    const { sums } = policy_loss_vanilla_ref(c, batch)
    return sums[0] - c.entropy_coeff * sums[4]
  }
  const slopes = (values: Float64Array) =>
    values.map((x, i) => {
      values[i] = x + 1e-6
      const up = total()
      values[i] = x - 1e-6
      const down = total()
      values[i] = x
      return (up - down) / 2e-6
    })
  const { d_log_probs, d_entropy, sums } = policy_loss_vanilla_ref(c, batch)
  // Both clips must take part, or the test would not see them.
  expect(sums[2]).toBeGreaterThan(0.1)
  expect(sums[3]).toBeGreaterThan(0.02)
  expectClose(d_log_probs, slopes(batch.log_probs), { atol: 1e-8, rtol: 1e-7 })
  expectClose(d_entropy, slopes(batch.entropy), { atol: 1e-8, rtol: 1e-7 })
})

test('cross-entropy is the mean over unmasked tokens', () => {
  const { loss, d_log_probs } = sft_loss_ref(1 / 2, [-1, -2, -5], [1, 1, 0])
  expect(loss).toBe(1.5)
  expectClose(d_log_probs, [-0.5, -0.5, 0])
})
