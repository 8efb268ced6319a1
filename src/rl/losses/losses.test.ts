import { describe, expect, test } from 'vitest'

import { numericGradient } from '../../kernels/numericGradient.ref.ts'
import {
  LOSS_AGG_MODES,
  type LossAggMode,
} from '../../kernels/policy_loss/aggregations/aggregations.ts'
import { aggregationWeights } from '../../kernels/policy_loss/loss_weights.ref.ts'
import { POLICY_LOSS_SUMS } from '../../kernels/policy_loss/policy_loss_frame.ts'
import { expectClose, randomValues } from '../../kernels/testing.ts'
import { LOSS_MODES, type LossMode, policyLossOf } from './losses.ts'
import { type PolicyLossConfig, policyLossRef } from './policy_loss.ref.ts'

const k: Omit<PolicyLossConfig, 'loss_agg_mode'> = {
  clip_ratio_low: 0.2,
  clip_ratio_high: 0.3,
  clip_ratio_c: 3,
  tau_pos: 1,
  tau_neg: 1.05,
}

/** Loss, gradient and metrics of one token with this ratio and advantage, whose old log-prob is
 * 0. */
function one(lossMode: LossMode, ratio: number, advantage: number, config = k) {
  const { loss, d_log_probs, metrics } = policyLossRef(
    lossMode,
    { ...config, loss_agg_mode: 'token-mean' },
    {
      log_probs: [Math.log(ratio)],
      old_log_probs: [0],
      advantages: [advantage],
      response_mask: [1],
      response_length: 1,
    },
  )
  return {
    loss,
    d: d_log_probs[0],
    kl: metrics['actor/ppo_kl'],
    clipfrac: Math.round(metrics['actor/pg_clipfrac']),
    clipfrac_lower: Math.round(metrics['actor/pg_clipfrac_lower']),
  }
}

describe('vanilla', () => {
  test('the four sides of the clip, by hand', () => {
    // Inside the range: -A r.
    expect(one('vanilla', 1, 2)).toMatchObject({ loss: -2, clipfrac: 0, clipfrac_lower: 0, d: -2 })
    // Good token, ratio above the range: held at 1 + high, no gradient.
    expect(one('vanilla', 1.5, 2)).toMatchObject({
      loss: -2.6,
      clipfrac: 1,
      clipfrac_lower: 0,
      d: 0,
    })
    // Good token below the range: still pulled up.
    expect(one('vanilla', 0.5, 2)).toMatchObject({ loss: -1, clipfrac: 0, d: -1 })
    // Bad token below the range: held at 1 - low.
    expect(one('vanilla', 0.5, -2)).toMatchObject({
      loss: 1.6,
      clipfrac: 1,
      clipfrac_lower: 0,
      d: 0,
    })
    // Bad token far above: the dual clip holds the loss at -A c.
    expect(one('vanilla', 4, -2)).toMatchObject({ loss: 6, clipfrac: 0, clipfrac_lower: 1, d: 0 })
  })

  test('the log ratio is clamped to 20, and its gradient ends there', () => {
    const { loss, kl, d } = one('vanilla', Math.exp(25), 0.001)
    expectClose([loss, kl, d], [-0.001 * 1.3, -20, 0])
    expect(one('vanilla', Math.exp(-25), 1)).toMatchObject({ loss: -Math.exp(-20), d: 0 })
  })
})

test('sapo, by hand: half open at ratio 1 with the plain slope, and closing on both sides', () => {
  expectClose([one('sapo', 1, 3).loss, one('sapo', 1, 3).d], [-6, -3])
  expectClose([one('sapo', 1, -3).loss, one('sapo', 1, -3).d], [6 / 1.05, 3])
  const gate = 1 / (1 + Math.exp(-1.05 * 0.5))
  const { loss, d } = one('sapo', 1.5, -2)
  expectClose([loss, d], [(2 * 4 * gate) / 1.05, 2 * 4 * gate * (1 - gate) * 1.5])
  expect(one('sapo', Math.exp(-21), 1).d).toBe(0)
})

test('cispo, by hand: a clipped weight still has a gradient', () => {
  const inside = one('cispo', 1.1, 2)
  expectClose([inside.loss, inside.d], [-2.2 * Math.log(1.1), -2.2])
  expect(inside.clipfrac).toBe(0)
  const above = one('cispo', 4, 2)
  expectClose([above.loss, above.d], [-2.6 * Math.log(4), -2.6])
  expect(above.clipfrac).toBe(1)
  expectClose([one('cispo', 0.1, -1).d, one('cispo', Math.exp(25), 1).d], [0.8, -1.3])
})

test('gpg and reinforce, by hand: no ratio at all', () => {
  for (const lossMode of ['gpg', 'reinforce'] as const) {
    const { loss, d } = one(lossMode, 5, -2)
    expectClose([loss, d], [2 * Math.log(5), 2])
  }
  expectClose([one('reinforce', 5, 1).kl], [-Math.log(5)])
})

test('dro, by hand: a plain gradient, and a pull of the log ratio', () => {
  const config = { ...k, policy_loss: { dro_beta: 0.5 } }
  const x = Math.log(4)
  const { loss, d, kl } = one('dro', 4, 2, config)
  expectClose([loss, d, kl], [0.25 * x * x - 2 * x, 0.5 * x - 2, -x])
  // Without an advantage the pull is all there is.
  expectClose([one('dro', 4, 0, config).d], [0.5 * x])
})

test('dppo, by hand: kept by how far the probability itself moved', () => {
  const config = {
    ...k,
    clip_ratio_low: 0.1,
    clip_ratio_high: 0.2,
    loss_agg_mode: 'token-mean',
  } as const
  const moved = (lossMode: 'dppo_tv' | 'dppo_kl', p: number, q: number, advantage: number) =>
    policyLossRef(lossMode, config, {
      log_probs: [Math.log(p)],
      old_log_probs: [Math.log(q)],
      advantages: [advantage],
      response_mask: [1],
      response_length: 1,
    })
  const d = (...of: Parameters<typeof moved>) => moved(...of).d_log_probs[0]
  // A ratio of 2, but a change of 0.1: kept. A ratio of 1.5 and a change of 0.25: not.
  expectClose([d('dppo_tv', 0.2, 0.1, 1), d('dppo_tv', 0.75, 0.5, 1)], [-2, 0])
  // What moves back is kept, however far.
  expectClose([d('dppo_tv', 0.1, 0.9, 1), d('dppo_kl', 0.1, 0.9, 1)], [-1 / 9, -1 / 9])
  expectClose([d('dppo_tv', 0.45, 0.5, -1), d('dppo_tv', 0.35, 0.5, -1)], [0.9, 0])
  // The weight ends at clip_ratio_c.
  const held = moved('dppo_tv', 0.1, 0.01, -2)
  expectClose([held.d_log_probs[0], held.loss], [6, 6 * Math.log(0.1)])
  expect(Math.round(held.metrics['actor/pg_clipfrac_lower'])).toBe(1)
  // KL of (0.75, 0.25) from (0.5, 0.5) is 0.1438, of (0.9, 0.1) 0.5108.
  expectClose([d('dppo_kl', 0.75, 0.5, 1), d('dppo_kl', 0.9, 0.5, 1)], [-1.5, 0])
  expectClose([d('dppo_kl', 0.25, 0.5, -1)], [0])
})

test('gspo, by hand: one ratio per row, and each token clips by its own advantage', () => {
  const batch = {
    log_probs: [0.2, 0.4, 9, 24, 0, 0],
    old_log_probs: [0, 0, 0, 0, 0, 0],
    advantages: [1, -1, 5, -1, 0, 0],
    response_mask: [1, 1, 0, 1, 0, 0],
    response_length: 3,
  }
  const { loss, d_log_probs, metrics } = policyLossRef(
    'gspo',
    { ...k, loss_agg_mode: 'token-mean' },
    batch,
  )
  const ratio = Math.exp(0.3)
  // Row 0: held at 1.3 for A = 1; not held for A = -1. Row 1: the mean is above 10, where the clamp
  // ends the gradient.
  expectClose([loss], [((-1.3 + ratio) / 2 + Math.exp(10)) / 2])
  expectClose(d_log_probs, [0, ratio / 4, 0, 0, 0, 0])
  expectClose([metrics['actor/ppo_kl'], metrics['actor/pg_clipfrac']], [-24.6 / 3, 1 / 3])
  expect(metrics['actor/pg_clipfrac_lower']).toBe(0)
})

test('geo_mean, by hand: clipped in log space, empty rows counted, weights by geometric mean', () => {
  const batch = {
    log_probs: [0.5, 0.1, 9, 0, 0, 0],
    old_log_probs: [0, 0, 0, 0, 0, 0],
    advantages: [2, 2, 5, 0, 0, 0],
    response_mask: [1, 1, 0, 0, 0, 0],
    rollout_is_weights: [0.5, 2, 7, 1, 1, 1],
    response_length: 3,
  }
  const config = { ...k, loss_agg_mode: 'token-mean' } as const
  const { loss, d_log_probs, metrics } = policyLossRef('geo_mean', config, batch)
  const row = -2 * Math.exp((0.3 + 0.1) / 2)
  expectClose([loss], [row / 2])
  expectClose(d_log_probs, [0, row / 4, 0, 0, 0, 0])
  expectClose([metrics['actor/pg_clipfrac'], metrics['actor/pg_clipfrac_lower']], [0.5, 0])
  // A negative advantage clips below, and a token of advantage 0 takes part in the means only.
  const mixed = { ...batch, log_probs: [-0.5, 0.1, 9, 0, 0, 0], advantages: [-2, 0, 5, 0, 0, 0] }
  const out = policyLossRef('geo_mean', config, { ...mixed, rollout_is_weights: null })
  expectClose([out.loss], [Math.exp(-0.1) / 2])
  expectClose(out.d_log_probs, [0, 0, 0, 0, 0, 0])
  expectClose([out.metrics['actor/pg_clipfrac_lower']], [0.5])
})

describe('every loss', () => {
  const [rows, R] = [6, 7]
  const n = rows * R
  // One row without a token, and a hole in the others.
  const batch = {
    log_probs: Float64Array.from(randomValues(n, 1), (x) => x - 2),
    old_log_probs: Float64Array.from(randomValues(n, 2), (x) => x - 2),
    advantages: Float64Array.from(randomValues(n, 3)),
    response_mask: Float64Array.from({ length: n }, (_, i) => Number(i % 7 !== 2 && i >= R)),
    rollout_is_weights: Float64Array.from(randomValues(n, 4), (x) => x + 1.5),
    response_length: R,
  }
  const modes = LOSS_MODES.filter((m) => m !== 'clip_cov' && m !== 'kl_cov')

  test.for(['vanilla', 'sapo', 'geo_mean', 'gpg', 'reinforce', 'dro'] as const)(
    '%s: the gradient is the finite difference of the loss',
    (lossMode) => {
      for (const loss_agg_mode of LOSS_AGG_MODES) {
        const loss = (log_probs: Float64Array) =>
          policyLossRef(lossMode, { ...k, loss_agg_mode }, { ...batch, log_probs })
        const { d_log_probs, metrics } = loss(batch.log_probs)
        // Steps of 1e-5 in f64 leave about 1e-9.
        expectClose(
          d_log_probs,
          numericGradient((x) => loss(x).loss, batch.log_probs),
          {
            atol: 1e-8,
            rtol: 1e-7,
          },
        )
        // The clips must take part, or the test would not see them.
        if (lossMode === 'vanilla' || lossMode === 'geo_mean') {
          expect(metrics['actor/pg_clipfrac']).toBeGreaterThan(0.1)
          expect(metrics['actor/pg_clipfrac_lower']).toBeGreaterThan(0.02)
        }
      }
    },
  )

  test('cispo and gspo: the gradient is that of the loss with the ratio held', () => {
    const config = { ...k, loss_agg_mode: 'token-mean' } as const
    const weights = (mode: LossAggMode) =>
      aggregationWeights(batch.response_mask, R, { loss_agg_mode: mode }).map(
        (w, i) => w * batch.rollout_is_weights[i],
      )
    const { d_log_probs: cispo } = policyLossRef('cispo', config, batch)
    const byToken = weights('token-mean')
    const held = batch.log_probs.map((x, i) =>
      Math.min(1.3, Math.max(0.8, Math.exp(x - batch.old_log_probs[i]))),
    )
    const surrogate = (x: Float64Array) =>
      x.reduce((sum, v, i) => sum - byToken[i] * held[i] * batch.advantages[i] * v, 0)
    expectClose(cispo, numericGradient(surrogate, batch.log_probs), { atol: 1e-8 })

    const { d_log_probs: gspo } = policyLossRef('gspo', config, batch)
    const byRow = weights('seq-mean-token-mean')
    const ratios = Array.from({ length: rows }, (_, row) => {
      const tokens = [...Array(R).keys()].map((t) => row * R + t).filter((i) => byRow[i] > 0)
      const sum = tokens.reduce((s, i) => s + batch.log_probs[i] - batch.old_log_probs[i], 0)
      return Math.exp(sum / Math.max(tokens.length, 1))
    })
    const asTokens = (x: Float64Array) =>
      x.reduce((sum, v, i) => {
        const ratio = ratios[Math.floor(i / R)] * Math.exp(v - batch.log_probs[i])
        const A = batch.advantages[i]
        return sum + byRow[i] * Math.max(-A * ratio, -A * Math.min(1.3, Math.max(0.8, ratio)))
      }, 0)
    expectClose(gspo, numericGradient(asTokens, batch.log_probs), { atol: 1e-8 })
  })

  test.for(LOSS_MODES)('%s: metrics are those that verl reports, and have a sum', (lossMode) => {
    const { metrics } = policyLossRef(lossMode, { ...k, loss_agg_mode: 'token-mean' }, batch)
    expect(Object.keys(metrics).sort()).toEqual([...policyLossOf(lossMode).metrics].sort())
    for (const name of Object.keys(metrics)) expect(POLICY_LOSS_SUMS).toContain(name)
  })

  test.for(modes)('%s: an unchanged policy pulls each token by its advantage', (lossMode) => {
    // Within a row all advantages are equal: geo_mean has one per row.
    const advantages = batch.advantages.map((_, i) => batch.advantages[Math.floor(i / R)])
    const same = { ...batch, advantages, old_log_probs: batch.log_probs, rollout_is_weights: null }
    const loss_agg_mode = 'seq-mean-token-mean'
    const { d_log_probs } = policyLossRef(lossMode, { ...k, loss_agg_mode }, same)
    const weights = aggregationWeights(batch.response_mask, R, { loss_agg_mode })
    // geo_mean counts the empty row too.
    const scale = lossMode === 'geo_mean' ? (rows - 1) / rows : 1
    expectClose(
      d_log_probs,
      weights.map((w, i) => -w * advantages[i] * scale),
      { atol: 1e-8 },
    )
  })
})

test.for(['vanilla', 'sapo'] as const)(
  '%s of the ratio of whole responses: its gradient is the derivative',
  (lossMode) => {
    const R = 4
    const batch = {
      log_probs: Array.from(randomValues(8, 3), (x) => x / 4 - 2),
      old_log_probs: Array.from(randomValues(8, 4), (x) => x / 4 - 2),
      advantages: [1, 1, 1, 1, -0.5, -0.5, -0.5, -0.5],
      response_mask: [1, 1, 0, 1, 1, 1, 1, 0],
      response_length: R,
    }
    const config = {
      ...k,
      loss_agg_mode: 'seq-mean-token-sum',
      importance_sampling_level: 'sequence',
    } as const
    const lossAt = (x: Float64Array) =>
      policyLossRef(lossMode, config, { ...batch, log_probs: x }).loss
    const found = policyLossRef(lossMode, config, batch).d_log_probs
    expectClose(found, numericGradient(lossAt, Float64Array.from(batch.log_probs)), { atol: 1e-8 })
    expect(Math.abs(found[0])).toBeGreaterThan(1e-3)
    expect(found[0]).toBe(found[3])
  },
)
