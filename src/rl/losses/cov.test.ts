import { describe, expect, test } from 'vitest'

import { numericGradient } from '../../kernels/numericGradient.ref.ts'
import { expectClose, randomValues } from '../../kernels/testing.ts'
import { clip_cov, selectionKey } from './clip_cov.ts'
import { kl_cov } from './kl_cov.ts'
import { type PolicyLossConfig, policyLossRef } from './policy_loss.ref.ts'

type Batch = Parameters<typeof policyLossRef>[2]
const clipCovRef = (config: PolicyLossConfig, batch: Batch) =>
  policyLossRef('clip_cov', config, batch)
const klCovRef = (config: PolicyLossConfig, batch: Batch) => policyLossRef('kl_cov', config, batch)

/** Three rows of 8; one response is shorter, one has a hole. */
function batchOf(seed: number) {
  const response_length = 8
  const response_mask = Array.from({ length: 24 }, (_, i) => (i === 11 || i > 20 ? 0 : 1))
  return {
    log_probs: Float64Array.from(randomValues(24, seed), (x) => x - 2),
    old_log_probs: Float64Array.from(randomValues(24, seed + 1), (x) => x - 2),
    advantages: randomValues(24, seed + 2),
    rollout_is_weights: randomValues(24, seed + 3).map((x) => x + 1.5),
    response_mask,
    response_length,
  }
}

/** Two tokens of advantage ±1 and log-probs -1 ± 1, ratios 1: both have covariance 1. A third is
 * masked. */
const pair = {
  log_probs: [0, -2, Number.NaN],
  old_log_probs: [0, -2, 0],
  advantages: [1, -1, Number.NaN],
  response_mask: [1, 1, 0],
  response_length: 3,
}

describe('clip_cov', () => {
  const config = { loss_agg_mode: 'token-mean', seed: 3 } as const

  test('one of two candidates is dropped; the other counts as before', () => {
    const policy_loss = { clip_cov_ratio: 0.5, clip_cov_lb: 0.5, clip_cov_ub: 1.5 }
    const { loss, d_log_probs, metrics } = clipCovRef({ ...config, policy_loss }, pair)
    const dropped = selectionKey(0, 3) > selectionKey(1, 3) ? 0 : 1
    expect(loss).toBe(dropped === 0 ? 0.5 : -0.5)
    expect([...d_log_probs]).toEqual(dropped === 0 ? [0, 0.5, 0] : [-0.5, 0, 0])
    expect(metrics['actor/pg_clipfrac']).toBeCloseTo(0.5, 7)
    expect(metrics['actor/ppo_kl']).toBe(0)
  })

  test('candidates lie strictly between the limits', () => {
    const count = (clip_cov_lb: number, clip_cov_ub: number) =>
      clipCovRef({ ...config, policy_loss: { clip_cov_ratio: 1, clip_cov_lb, clip_cov_ub } }, pair)
        .metrics['actor/pg_clipfrac']
    // Means over 2 + 1e-8 tokens put the covariances 1e-8 off 1.
    expect(count(1.0001, 2)).toBe(0)
    expect(count(0.5, 0.9999)).toBe(0)
    expect(count(0.9999, 1.0001)).toBeCloseTo(1, 7)
  })

  test('what the ordinary clip holds is no candidate', () => {
    const batch = { ...pair, old_log_probs: [-1, -2, 0] }
    const policy_loss = { clip_cov_ratio: 1, clip_cov_lb: -9, clip_cov_ub: 9 }
    const { loss, d_log_probs } = clipCovRef({ ...config, policy_loss }, batch)
    // Token 0 has ratio e and is held at -1.2; token 1 is dropped.
    expect(loss).toBeCloseTo(-1.2 / 2, 15)
    expect([...d_log_probs]).toEqual([0, 0, 0])
  })

  test('the gradient is the finite difference of the loss', () => {
    const batch = batchOf(1)
    const policy_loss = { clip_cov_ratio: 0.2, clip_cov_lb: -1, clip_cov_ub: 5 }
    const c = { ...config, loss_agg_mode: 'seq-mean-token-mean', policy_loss } as const
    const { d_log_probs, metrics } = clipCovRef(c, batch)
    expect(metrics['actor/pg_clipfrac']).toBeCloseTo(4 / 20, 7)
    const slopes = numericGradient(
      (log_probs) => clipCovRef(c, { ...batch, log_probs }).loss,
      batch.log_probs,
    )
    expectClose(d_log_probs, slopes, { atol: 1e-9, rtol: 1e-8 })
    expect(d_log_probs.filter((d) => d !== 0).length).toBeGreaterThan(5)
  })

  test('over seeds, each of 10 candidates is drawn about as often, and pairs too', () => {
    const [draws, tokens] = [4000, 10]
    const single = new Float64Array(tokens)
    const both = new Float64Array(tokens * tokens)
    for (let seed = 0; seed < draws; seed++) {
      const keys = Array.from({ length: tokens }, (_, i) => selectionKey(i, seed))
      const third = [...keys].sort((a, b) => b - a)[2]
      for (let i = 0; i < tokens; i++)
        for (let j = 0; j < tokens; j++)
          if (keys[i] >= third && keys[j] >= third) {
            if (i === j) single[i]++
            else both[i * tokens + j]++
          }
    }
    // Binomial, p = 3/10 and (3/10)(2/9): standard deviations of 29 and 15.8 draws; five of them.
    for (const count of single) expect(Math.abs(count - 1200)).toBeLessThan(145)
    for (let i = 1; i < tokens; i++)
      for (let j = 0; j < i; j++)
        expect(Math.abs(both[i * tokens + j] - draws / 15)).toBeLessThan(79)
  })
})

describe('kl_cov', () => {
  const config = { loss_agg_mode: 'token-mean' } as const

  test('the token with the largest covariance pays for its log ratio, the first of equals', () => {
    // Both covariances are 1.
    const batch = { ...pair, log_probs: [0, -2, 9], old_log_probs: [-1, -2.5, 0] }
    const policy_loss = { kl_cov_ratio: 0.5, ppo_kl_coef: 0.25 }
    const { loss, d_log_probs, metrics } = klCovRef({ ...config, policy_loss }, batch)
    expect(loss).toBeCloseTo((-Math.E + 0.25 + Math.exp(0.5)) / 2, 14)
    expectClose(d_log_probs, [(-Math.E + 0.25) / 2, Math.exp(0.5) / 2, 0], { atol: 1e-15 })
    expect(metrics).toEqual({ 'actor/ppo_kl': 1.5 / (2 + 1e-8) })
  })

  test('equal log-probs have penalty 0 and slope 0', () => {
    const policy_loss = { kl_cov_ratio: 1, ppo_kl_coef: 5 }
    const { loss, d_log_probs } = klCovRef({ ...config, policy_loss }, pair)
    expect(loss).toBe(0)
    expect([...d_log_probs]).toEqual([-0.5, 0.5, 0])
  })

  test('the gradient is the finite difference of the loss', () => {
    const batch = batchOf(5)
    const policy_loss = { kl_cov_ratio: 0.3, ppo_kl_coef: 0.7 }
    const c = { loss_agg_mode: 'seq-mean-token-sum', policy_loss } as const
    const slopes = numericGradient(
      (log_probs) => klCovRef(c, { ...batch, log_probs }).loss,
      batch.log_probs,
    )
    const { d_log_probs } = klCovRef(c, batch)
    expectClose(d_log_probs, slopes, { atol: 1e-9, rtol: 1e-8 })
    const free = klCovRef({ ...c, policy_loss: { ...policy_loss, ppo_kl_coef: 0 } }, batch)
    expect(d_log_probs.filter((d, i) => d !== free.d_log_probs[i]).length).toBe(6)
  })
})

describe('how many tokens are chosen', () => {
  const clip = (clip_cov_ratio: number, tokens: number) =>
    clip_cov.choice?.count(
      { clip_cov_ratio, clip_cov_lb: 1, clip_cov_ub: 5, clip_ratio_low: 0.2, clip_ratio_high: 0.2 },
      tokens,
    )
  const kl = (kl_cov_ratio: number, tokens: number) =>
    kl_cov.choice?.count({ kl_cov_ratio, ppo_kl_coef: 1 }, tokens)

  test('the share of the tokens rounded down, but at least one', () => {
    expect(clip(0.0002, 20)).toBe(1)
    expect(clip(0.0002, 14999)).toBe(2)
    expect(kl(0.29, 10)).toBe(2)
    expect(kl(0.29, 0)).toBe(0)
  })

  test('the product is rounded as doubles are', () => {
    // In Python int(0.29 * 100) is 28, because the product is 28.999999999999996.
    expect(kl(0.29, 100)).toBe(28)
  })

  test('shares that verl refuses are refused', () => {
    expect(() => clip(0, 9)).toThrow('clip_cov_ratio: expected a number above 0, got 0')
    expect(() => kl(1.5, 9)).toThrow(RangeError)
  })
})
