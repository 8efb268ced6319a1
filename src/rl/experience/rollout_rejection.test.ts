import { describe, expect, test } from 'vitest'
import { rolloutCorrectionRef } from '../../kernels/rollout_correction/rollout_correction.ref.ts'
import { RS_CRITERIA, RS_UNBOUNDED } from '../../kernels/rollout_correction/rollout_correction.ts'
import { expectClose, randomValues } from '../../kernels/testing.ts'
import { ALGORITHM_DEFAULTS } from '../config/algorithm.ts'
import type { RolloutCorrection } from '../config/rollout_correction.ts'
import {
  correctionParams,
  type LogProbPair,
  rejectionBounds,
  rolloutIsWeights,
  rolloutRejectionMask,
} from './rollout_correction.ts'

/** float64 against numbers by hand; the 1e-8 in verl's masked means is visible at 1e-8 / tokens. */
const HAND = { rtol: 2e-8, atol: 1e-12 }

const off = ALGORITHM_DEFAULTS.rollout_correction

/** Rows of ratios pi_train / pi_rollout; 0 = masked, with NaN log-probs. */
function pairOf(ratios: readonly (readonly number[])[]): LogProbPair {
  const flat = ratios.flat()
  return {
    old_log_prob: flat.map((r) => (r === 0 ? Number.NaN : Math.log(r) - 1)),
    rollout_log_prob: flat.map((r) => (r === 0 ? Number.NaN : -1)),
    response_mask: flat.map((r) => (r === 0 ? 0 : 1)),
    response_length: ratios[0].length,
  }
}

/** Random log-probs with a hole in each response, ragged ends and one empty row. */
function randomPair(rows: number, response_length: number, seed: number): LogProbPair {
  const count = rows * response_length
  const shift = randomValues(count, seed)
  const rollout = Float64Array.from(randomValues(count, seed + 1), (x) => -1 - x)
  const lengths = randomValues(rows, seed + 2).map((x) =>
    Math.ceil(((x + 1) / 2) * response_length),
  )
  lengths[rows - 1] = 0
  return {
    old_log_prob: rollout.map((x, i) => x + 0.5 * shift[i]),
    rollout_log_prob: rollout,
    response_mask: rollout.map((_, i) => {
      const t = i % response_length
      return t < lengths[Math.floor(i / response_length)] && t !== 1 ? 1 : 0
    }),
    response_length,
  }
}

describe('thresholds', () => {
  test('k1 takes lower_upper, or u for 1/u_u, as logs; k2 and k3 one upper bound', () => {
    const bounds = rejectionBounds('token_k1, seq_mean_k3 ,seq_sum_k1', '0.5_3, 1e-2, 4')
    expect([...bounds.keys()]).toEqual(['token_k1', 'seq_mean_k3', 'seq_sum_k1'])
    expect(bounds.get('token_k1')).toEqual({ lower: Math.log(0.5), upper: Math.log(3) })
    expect(bounds.get('seq_mean_k3')?.upper).toBe(0.01)
    expect(bounds.get('seq_sum_k1')).toEqual({ lower: Math.log(0.25), upper: Math.log(4) })
  })

  test('one threshold is shared, a number is one, repeated criteria count once', () => {
    const bounds = rejectionBounds('token_k2,token_k3,token_k2', 0.25)
    expect([...bounds.values()].map(({ upper }) => upper)).toEqual([0.25, 0.25])
    expect(rejectionBounds('token_k2,token_k3,token_k2', '1,2').get('token_k3')?.upper).toBe(2)
    expect(rejectionBounds(null, null).size).toBe(0)
  })

  test.each([
    ['token_k4', '1', /rollout_rs: expected token_k1, .* got "token_k4"/],
    ['seq_max_k1', '1', /got "seq_max_k1"/],
    [' , ', '1', /expected a criterion or null/],
    ['token_k1', null, /rollout_rs_threshold: expected 1 or 1 thresholds, got 0/],
    ['token_k1,token_k2,token_k3', '1,2', /expected 1 or 3 thresholds, got 2/],
    ['token_k2', '0.5_2', /token_k2: expected one upper bound, got "0.5_2"/],
    ['token_k1', '1_2_3', /token_k1: expected lower_upper, got "1_2_3"/],
    ['token_k1', '2_0.5', /lower <= upper, got 2 and 0.5/],
    ['token_k1', 0.5, /lower <= upper, got 2 and 0.5/],
    ['token_k1', '0_2', /expected a number above 0, got "0"/],
    ['token_k1', '_2', /expected a number above 0, got ""/],
    ['seq_sum_k2', '-1', /expected a number above 0, got "-1"/],
    ['seq_sum_k2', 'much', /expected a number above 0, got "much"/],
    ['seq_sum_k2', 'Infinity', /expected a number above 0, got "Infinity"/],
  ] as const)('rollout_rs %j with threshold %j is refused', (criteria, threshold, message) => {
    expect(() => rejectionBounds(criteria, threshold)).toThrow(RangeError)
    expect(() => rejectionBounds(criteria, threshold)).toThrow(message)
  })
})

describe('rejection', () => {
  const maskOf = (
    ratios: readonly (readonly number[])[],
    rollout_rs: string,
    threshold: string,
  ) => [
    ...rolloutRejectionMask(pairOf(ratios), { rollout_rs, rollout_rs_threshold: threshold })
      .response_mask,
  ]
  const ratios = [
    [4, 0.25, 0],
    [1.2, 1.2, 1.2],
  ]

  test('bounds of k1 are on pi_rollout / pi_train, ends included', () => {
    expect(maskOf([[2.1, 1.9, 0.4, 0.3]], 'token_k1', '0.5_3')).toEqual([0, 1, 1, 0])
    // log ratio exactly 0 lies on the bound of 1_1
    expect(maskOf([[1, 1.01]], 'token_k1', '1')).toEqual([1, 0])
  })

  test('a token criterion takes out tokens, a sequence criterion whole rows', () => {
    expect(maskOf(ratios, 'token_k1', '2')).toEqual([0, 0, 0, 1, 1, 1])
    // 4 · 0.25 = 1 passes; 1.2³ = 1.728 does not
    expect(maskOf(ratios, 'seq_sum_k1', '1.5')).toEqual([1, 1, 0, 0, 0, 0])
    expect(maskOf(ratios, 'seq_mean_k1', '1.3')).toEqual([1, 1, 0, 1, 1, 1])
  })

  test('sum, mean and maximum of k2 and k3 part rows at their values', () => {
    const l = Math.log(4)
    // row 0: k2 = l²/2 twice; k3 = 4 - 1 - l and 0.25 - 1 + l
    const values = {
      seq_sum_k2: l * l,
      seq_mean_k2: (l * l) / 2,
      seq_max_k2: (l * l) / 2,
      seq_sum_k3: 3 - 0.75,
      seq_mean_k3: (3 - 0.75) / 2,
      seq_max_k3: 3 - l,
      token_k2: (l * l) / 2,
    }
    for (const [criterion, value] of Object.entries(values)) {
      expect(maskOf(ratios, criterion, String(value * 1.001)), criterion).toEqual([
        1, 1, 0, 1, 1, 1,
      ])
      expect(maskOf(ratios, criterion, String(value * 0.999)), criterion).toEqual([
        0, 0, 0, 1, 1, 1,
      ])
    }
    expect(maskOf(ratios, 'token_k3', '1')).toEqual([0, 1, 0, 1, 1, 1])
  })

  test('every criterion must pass, and the fractions count tokens and rows', () => {
    const config = { rollout_rs: 'token_k1,seq_sum_k1', rollout_rs_threshold: '3,1.5' }
    const { response_mask, metrics } = rolloutRejectionMask(
      pairOf([[4, 1.1, 0], ...ratios]),
      config,
    )
    expect([...response_mask]).toEqual(new Array(9).fill(0))
    // token_k1 rejects 4 | 4, 0.25 | none of 7 tokens; seq_sum_k1 rows 0 and 2
    expectClose(
      [
        metrics.rollout_rs_masked_fraction,
        metrics.rollout_rs_seq_masked_fraction,
        metrics.rollout_rs_token_k1_masked_fraction,
        metrics.rollout_rs_token_k1_seq_masked_fraction,
        metrics.rollout_rs_seq_sum_k1_masked_fraction,
        metrics.rollout_rs_seq_sum_k1_seq_masked_fraction,
      ],
      [1, 1, 3 / 7, 2 / 3, 5 / 7, 2 / 3],
      HAND,
    )
  })

  test('metrics of a criterion describe its statistic, over rows for a sequence criterion', () => {
    const config = { rollout_rs: 'seq_sum_k1', rollout_rs_threshold: '1.5' }
    const pair = pairOf([...ratios, [0, 0, 0]])
    const { metrics } = rolloutRejectionMask(pair, config)
    const low = -3 * Math.log(1.2)
    const expected = {
      mean: (3 * low) / 5,
      max: 0,
      min: low,
      fraction_high: 0,
      fraction_low: 0.5,
      // clamped to ±log 1.5: twice 0, three times -log 1.5
      std: Math.log(1.5) * Math.sqrt(0.6 - 0.36),
      seq_mean: low / 2,
      seq_std: -low / Math.SQRT2,
      seq_max_deviation: -low,
      seq_fraction_low: 0.5,
    }
    for (const [name, value] of Object.entries(expected))
      expect(metrics[`rollout_rs_seq_sum_k1_${name}`], name).toBeCloseTo(value, 7)
    // of all rows, empty ones included
    expectClose([metrics.rollout_rs_seq_masked_fraction], [1 / 3], HAND)
    for (const value of Object.values(metrics)) expect(Number.isFinite(value)).toBe(true)
  })

  test('without criteria the mask stays; rejecting again changes nothing', () => {
    const pair = randomPair(6, 8, 3)
    expect([...rolloutRejectionMask(pair, off).response_mask]).toEqual(
      Array.from(pair.response_mask),
    )
    const config = { rollout_rs: 'token_k1', rollout_rs_threshold: '1.2' }
    const once = rolloutRejectionMask(pair, config).response_mask
    const twice = rolloutRejectionMask({ ...pair, response_mask: once }, config).response_mask
    expect([...twice]).toEqual([...once])
    expect(once.some((m, i) => m !== pair.response_mask[i])).toBe(true)
  })
})

describe('params of the kernel', () => {
  test('criteria that are off have no bounds, and ppo_clip applies no weights', () => {
    const correction: RolloutCorrection = {
      ...off,
      rollout_is: 'sequence',
      rollout_is_batch_normalize: true,
      rollout_rs: 'seq_max_k2',
      rollout_rs_threshold: 0.5,
    }
    const clip = correctionParams(correction)
    expect(clip).toEqual({
      ...RS_UNBOUNDED,
      upper_seq_max_k2: 0.5,
      rollout_is: 2,
      is_threshold: 2,
      is_lower: 0,
      batch_normalize: 1,
      weighs: 0,
    })
    expect(correctionParams({ ...correction, loss_type: 'reinforce' }).weighs).toBe(1)
    expect(correctionParams(off)).toMatchObject(RS_UNBOUNDED)
  })

  test('the kernel reference keeps and weighs the same tokens', () => {
    const pair = randomPair(9, 7, 21)
    const { old_log_prob: log_probs, rollout_log_prob: rollout_log_probs, ...rest } = pair
    const batch = { log_probs, rollout_log_probs, ...rest }
    const criteria = [...RS_CRITERIA.map(String), 'token_k1,seq_mean_k3']
    for (const rollout_rs of criteria)
      for (const rollout_is of ['token', 'sequence'] as const) {
        const correction: RolloutCorrection = {
          ...off,
          rollout_is,
          rollout_is_threshold: 1.1,
          rollout_is_batch_normalize: true,
          rollout_rs,
          rollout_rs_threshold: rollout_rs.includes('k1') ? '1.3' : '0.05',
          loss_type: 'reinforce',
        }
        if (rollout_rs.includes(','))
          Object.assign(correction, { rollout_rs_threshold: '1.3,0.03' })
        const kernel = rolloutCorrectionRef(correctionParams(correction), batch)
        const { response_mask, metrics } = rolloutRejectionMask(pair, correction)
        expect([...kernel.modified_mask], rollout_rs).toEqual([...response_mask])
        expectClose(
          [kernel.metrics['rollout_corr/rollout_rs_masked_fraction']],
          [metrics.rollout_rs_masked_fraction],
          { rtol: 1e-12, atol: 0 },
        )
        const weights = rolloutIsWeights(pair, correction).rollout_is_weights ?? []
        const valid = Array.from(pair.response_mask, (m, i) => m * kernel.rollout_is_weights[i])
        expectClose(valid, weights, { rtol: 1e-12, atol: 0 })
      }
  })
})
