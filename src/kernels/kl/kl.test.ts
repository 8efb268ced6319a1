import { describe, expect, test } from 'vitest'

import { numericGradient } from '../numericGradient.ref.ts'
import { expectClose, randomValues } from '../testing.ts'
import { klLossRef } from './kl.ref.ts'
import { KL_PENALTIES, type KlPenalty, klKind, klPenalty } from './kl_penalty.ts'

/** Differences of every kind: small, large, 0, beyond k3's limits. */
const differences = [0, 1e-6, -1e-6, 0.3, -0.3, 1.5, -2.6, -2.62, 10.9, 11, 21, -21]

describe('klPenalty', () => {
  test('by hand, at a policy twice as likely as the reference', () => {
    const d = Math.log(2)
    expect(klPenalty('k1', d, 0)).toEqual({ value: d, slope: 1 })
    expect(klPenalty('abs', -d, 0)).toEqual({ value: d, slope: -1 })
    expect(klPenalty('k2', d - 1, -1).value).toBeCloseTo(d ** 2 / 2, 15)
    // e^-ln2 + ln2 - 1 = ln2 - 1/2, slope 1 - 1/2.
    expect(klPenalty('k3', d, 0).value).toBeCloseTo(d - 0.5, 15)
    expect(klPenalty('k3', d, 0).slope).toBeCloseTo(0.5, 15)
  })

  test('k3 is held at 10, and its slope ends there', () => {
    expect(klPenalty('k3', 0, 2.7)).toEqual({ value: 10, slope: 0 })
    expect(klPenalty('k3', 0, 2.5).slope).toBeCloseTo(1 - Math.exp(2.5), 12)
    expect(klPenalty('k3', 30, 0)).toEqual({ value: 10, slope: 0 })
  })

  test('equal policies have divergence 0 and, but for k1, slope 0', () => {
    for (const kind of KL_PENALTIES) {
      const { value, slope } = klPenalty(kind, -1.3, -1.3)
      expect([Math.abs(value), Math.abs(slope)], kind).toEqual([
        0,
        kind === 'k1' || kind === 'kl' ? 1 : 0,
      ])
    }
  })

  test('a plus sign keeps the value and takes the slope of k2', () => {
    for (const kind of KL_PENALTIES.filter((name) => name.endsWith('+')))
      for (const d of differences) {
        const base = klPenalty(kind.slice(0, -1) as KlPenalty, d, 0)
        expect(klPenalty(kind, d, 0), `${kind} at ${d}`).toEqual({ value: base.value, slope: d })
      }
  })

  test('agrees with the reference', () => {
    for (const kind of KL_PENALTIES)
      for (const d of differences) {
        const { kld, d_log_probs } = klLossRef(
          { kl_loss_type: kind, kl_loss_coef: 1 },
          { log_probs: [d], ref_log_prob: [0], loss_weights: [1] },
        )
        const { value, slope } = klPenalty(kind, d, 0)
        // The reference subtracts as written, which costs 1e-16 near 0.
        expectClose([value, slope], [kld[0], d_log_probs[0]], { atol: 4e-16, rtol: 1e-13 })
      }
  })

  test('an unknown name is refused, with the names there are', () => {
    expect(() => klPenalty('full' as KlPenalty, 0, 0)).toThrow(/one of kl, k1, .* got full/)
    expect(() => klKind('k3++' as KlPenalty)).toThrow(RangeError)
  })
})

test('klKind: synonyms share a number, a plus sign is apart', () => {
  expect(klKind('kl')).toEqual(klKind('k1'))
  expect(klKind('low_var_kl+')).toEqual({ ...klKind('k3'), straight_through: 1 })
  const numbers = (['k1', 'abs', 'k2', 'k3'] as const).map((kind) => klKind(kind).estimator)
  expect(numbers).toEqual([0, 1, 2, 3])
})

test.for(KL_PENALTIES.filter((name) => !name.endsWith('+')))(
  '%s: the gradient is the finite difference of the loss',
  (kl_loss_type) => {
    const tokens = 30
    const ref_log_prob = randomValues(tokens, 1).map((x) => 3 * x)
    const loss_weights = randomValues(tokens, 2).map((x, i) => (i % 5 === 0 ? 0 : x))
    const config = { kl_loss_type, kl_loss_coef: 0.7 }
    const log_probs = randomValues(tokens, 3).map((x) => 2 * x)
    const { d_log_probs } = klLossRef(config, { log_probs, ref_log_prob, loss_weights })
    const slopes = numericGradient(
      (x) => 0.7 * klLossRef(config, { log_probs: x, ref_log_prob, loss_weights }).loss,
      log_probs,
    )
    expectClose(d_log_probs, slopes, { atol: 1e-8, rtol: 1e-8 })
    expect(d_log_probs.filter((d) => d !== 0).length).toBeGreaterThan(15)
  },
)
