import { describe, expect, test } from 'vitest'

import { expectClose } from '../testing.ts'
import { rolloutCorrectionRef } from './rollout_correction.ref.ts'
import { RS_CRITERIA, RS_UNBOUNDED } from './rollout_correction.ts'

const off = {
  rollout_is: 0,
  is_threshold: 2,
  is_lower: 0,
  batch_normalize: 0,
  weighs: 1,
  ...RS_UNBOUNDED,
}

/** Log ratios [[ln 3, -ln 2], [0, masked], [masked, masked]]. */
const batch = {
  log_probs: [Math.log(3) - 1, -Math.LN2, -4, Number.NaN, Number.NaN, 0],
  rollout_log_probs: [-1, 0, -4, 0, 0, Number.NaN],
  response_mask: [1, 1, 1, 0, 0, 0],
  response_length: 2,
}

describe('weights', () => {
  const weights = (params: Partial<typeof off>) =>
    rolloutCorrectionRef({ ...off, ...params }, batch)

  test('off: 1 for every token', () => {
    expect([...weights({}).rollout_is_weights]).toEqual([1, 1, 1, 0, 0, 0])
  })

  test('of tokens: ratios, truncated from above only', () => {
    const { rollout_is_weights, metrics } = weights({ rollout_is: 1 })
    expectClose(rollout_is_weights, [2, 0.5, 1, 0, 0, 0], { atol: 1e-15, rtol: 0 })
    // Before truncation: (3 + 1/2 + 1) / 3.
    expect(metrics['rollout_corr/rollout_is_mean']).toBeCloseTo(1.5, 7)
    expect(metrics['rollout_corr/kl']).toBeCloseTo(-Math.log(1.5) / 3, 7)
  })

  test('of sequences: the product of a row', () => {
    const { rollout_is_weights } = weights({ rollout_is: 2 })
    expectClose(rollout_is_weights, [1.5, 1.5, 1, 0, 0, 0], { atol: 1e-15, rtol: 0 })
  })

  test('normalized by their mean over tokens, or over rows with a token', () => {
    const tokens = weights({ rollout_is: 1, batch_normalize: 1 })
    const mean = 3.5 / 3
    expectClose(tokens.rollout_is_weights, [2 / mean, 0.5 / mean, 1 / mean, 0, 0, 0], {
      rtol: 1e-7,
    })
    const rows = weights({ rollout_is: 2, batch_normalize: 1 })
    expectClose(rows.rollout_is_weights, [1.2, 1.2, 0.8, 0, 0, 0], { rtol: 1e-7 })
    expect(rows.metrics['rollout_corr/rollout_is_batch_norm_factor']).toBeCloseTo(1.25, 7)
  })

  test('only reported: weights of 1, and the share of tokens beyond the bounds', () => {
    const icepop = { rollout_is: 1, is_lower: 0.6, batch_normalize: 1, weighs: 0 }
    const { rollout_is_weights, metrics } = weights(icepop)
    expect([...rollout_is_weights]).toEqual([1, 1, 1, 0, 0, 0])
    // Ratios 3, 1/2 and 1 with bounds 0.6 and 2.
    expect(metrics['rollout_corr/rollout_is_oob_ratio']).toBeCloseTo(2 / 3, 7)
    expect(metrics['rollout_corr/rollout_is_mean']).toBeCloseTo(1 / 3, 7)
  })

  test('a log ratio beyond 20 is worth 20', () => {
    const far = {
      ...batch,
      log_probs: [30, 0, -40, 0, 0, 0],
      rollout_log_probs: [0, 0, 0, 0, 0, 0],
    }
    const { rollout_is_weights } = rolloutCorrectionRef(
      { ...off, rollout_is: 1, is_threshold: 1e20 },
      far,
    )
    expect([...rollout_is_weights]).toEqual([Math.exp(20), 1, Math.exp(-20), 0, 0, 0])
  })
})

describe('rejection', () => {
  const mask = (bounds: Partial<typeof RS_UNBOUNDED>) => [
    ...rolloutCorrectionRef({ ...off, ...bounds }, batch).modified_mask,
  ]
  const [ln2, ln3] = [Math.LN2, Math.log(3)]

  test('without bounds keeps the mask', () => {
    expect(mask({})).toEqual(batch.response_mask)
  })

  test('each criterion by hand: kept with a bound just outside its value, rejected with one just inside', () => {
    // Statistics of row 0, whose log ratios are ln 3 and -ln 2; a token criterion is decided by
    // token 0.
    const k2 = [ln3 ** 2 / 2, ln2 ** 2 / 2]
    const k3 = [2 - ln3, ln2 - 0.5]
    const values = {
      token_k1: -ln3,
      token_k2: k2[0],
      token_k3: k3[0],
      seq_sum_k1: ln2 - ln3,
      seq_sum_k2: k2[0] + k2[1],
      seq_sum_k3: k3[0] + k3[1],
      seq_mean_k1: (ln2 - ln3) / 2,
      seq_mean_k2: (k2[0] + k2[1]) / 2,
      seq_mean_k3: (k3[0] + k3[1]) / 2,
      seq_max_k2: k2[0],
      seq_max_k3: k3[0],
    }
    for (const name of RS_CRITERIA) {
      const x = values[name]
      const bound = (shift: number) =>
        name.endsWith('k1') ? { [`lower_${name}`]: x - shift } : { [`upper_${name}`]: x + shift }
      const rejected = name.startsWith('token') ? [0, 1, 1, 0, 0, 0] : [0, 0, 1, 0, 0, 0]
      expect(mask(bound(1e-6)), name).toEqual(batch.response_mask)
      expect(mask(bound(-1e-6)), name).toEqual(rejected)
    }
    expect(mask({ upper_token_k1: 0.5 })).toEqual([1, 0, 1, 0, 0, 0])
  })

  test('all must pass, each judged on the whole mask', () => {
    // Alone, the token bound leaves token 1, whose own mean would pass; the row is judged with
    // token 0.
    expect(mask({ upper_token_k2: 0.5, upper_seq_mean_k2: 0.3 })).toEqual([0, 0, 1, 0, 0, 0])
  })

  test('the weights are of the whole mask, and a rejected token keeps its own', () => {
    const params = { ...off, rollout_is: 1, batch_normalize: 1 }
    const free = rolloutCorrectionRef(params, batch)
    const held = rolloutCorrectionRef({ ...params, upper_token_k2: 0.5 }, batch)
    expect(held.rollout_is_weights).toEqual(free.rollout_is_weights)
    expect(held.metrics['rollout_corr/rollout_rs_masked_fraction']).toBeCloseTo(1 / 3, 7)
  })
})
