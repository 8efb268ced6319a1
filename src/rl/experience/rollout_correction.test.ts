import { describe, expect, test } from 'vitest'
import { expectClose } from '../../kernels/testing.ts'
import { ALGORITHM_DEFAULTS } from '../config/algorithm.ts'
import { type LogProbPair, offpolicyMetrics, rolloutIsWeights } from './rollout_correction.ts'
import { probabilityMetrics } from './rollout_correction_metrics.ts'

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

describe('importance weights', () => {
  // ratios 4, 1 | 0.25
  const pair = pairOf([
    [4, 1],
    [0.25, 0],
  ])

  test('per token are ratios cut off above; metrics are of the ratios themselves', () => {
    const { rollout_is_weights, metrics } = rolloutIsWeights(pair, { ...off, rollout_is: 'token' })
    expectClose(rollout_is_weights ?? [], [2, 1, 0.25, 0], HAND)
    const expected = {
      rollout_is_mean: 5.25 / 3,
      rollout_is_max: 4,
      rollout_is_min: 0.25,
      rollout_is_ratio_fraction_high: 1 / 3,
      rollout_is_ratio_fraction_low: 1 / 3,
      // clamped to [1/2, 2]: 2, 1, 0.5 with mean 7/6 and mean square 5.25/3
      rollout_is_std: Math.sqrt(1.75 - 49 / 36),
      rollout_is_eff_sample_size: 49 / 36 / 1.75,
      // row means 2.5 and 0.25
      rollout_is_seq_mean: 1.375,
      rollout_is_seq_std: 2.25 / Math.SQRT2,
      rollout_is_seq_max: 2.5,
      rollout_is_seq_min: 0.25,
      rollout_is_seq_max_deviation: 1.5,
      rollout_is_seq_fraction_high: 0.5,
      rollout_is_seq_fraction_low: 0.5,
    }
    expect(Object.keys(metrics).sort()).toEqual(Object.keys(expected).sort())
    for (const [name, value] of Object.entries(expected))
      expect(metrics[name], name).toBeCloseTo(value, 6)
  })

  test('per sequence are products over the row', () => {
    const rows = pairOf([
      [4, 0.25, 1.5],
      [3, 2, 0],
      [0, 0, 0],
    ])
    const { rollout_is_weights, metrics } = rolloutIsWeights(rows, {
      ...off,
      rollout_is: 'sequence',
    })
    expectClose(rollout_is_weights ?? [], [1.5, 1.5, 1.5, 2, 2, 0, 0, 0, 0], HAND)
    // an empty row counts as a product of 1 here, as in verl
    expectClose([metrics.rollout_is_max, metrics.rollout_is_min], [6, 1], HAND)
    expectClose([metrics.rollout_is_ratio_fraction_high], [1 / 3], HAND)
  })

  test('normalised weights have mean 1 over tokens, or over rows with tokens', () => {
    const ratios = [
      [1.5, 0, 0.7],
      [0.9, 3, 1.1],
      [0, 0, 0],
      [0.2, 1, 0],
    ]
    const ragged = pairOf(ratios)
    for (const rollout_is of ['token', 'sequence'] as const) {
      const config = { ...off, rollout_is, rollout_is_batch_normalize: true }
      const { rollout_is_weights, metrics } = rolloutIsWeights(ragged, config)
      const weights = rollout_is_weights ?? new Float64Array()
      const tokens = [...weights].filter((w) => w !== 0)
      const firsts = [weights[0], weights[3], weights[9]]
      const group = rollout_is === 'token' ? tokens : firsts
      expectClose([group.reduce((a, b) => a + b, 0) / group.length], [1], { rtol: 2e-8, atol: 0 })
      const plain = rolloutIsWeights(ragged, { ...off, rollout_is }).rollout_is_weights ?? []
      const factor = metrics.rollout_is_batch_norm_factor
      expectClose(
        weights,
        Array.from(plain, (w) => w / factor),
        { rtol: 1e-12, atol: 0 },
      )
    }
  })

  test('log ratios beyond 20 neither overflow nor vanish', () => {
    const far = { ...pair, old_log_prob: [800, -900, -1, 0], rollout_log_prob: [0, 0, -1, 0] }
    const config = { ...off, rollout_is: 'token', rollout_is_threshold: 1e12 } as const
    const { rollout_is_weights } = rolloutIsWeights(far, config)
    expectClose(rollout_is_weights ?? [], [Math.exp(20), Math.exp(-20), 1, 0], HAND)
  })

  test('equal policies have weights 1 and the whole sample', () => {
    const same = pairOf([
      [1, 1, 0],
      [1, 1, 1],
    ])
    const config = { ...off, rollout_is: 'sequence', rollout_is_batch_normalize: true } as const
    const { rollout_is_weights, metrics } = rolloutIsWeights(same, config)
    expectClose(rollout_is_weights ?? [], [1, 1, 0, 1, 1, 1], HAND)
    expect(metrics.rollout_is_eff_sample_size).toBeCloseTo(1, 7)
    expect(metrics.rollout_is_std).toBeCloseTo(0, 4)
  })

  test('IcePop keeps what is within both bounds, ends included, and reports what is applied', () => {
    // Ratios 1/2, 1, 2 and 4; the last token is masked.
    const [half, two] = [-Math.log(2), Math.log(2)]
    const wide = {
      old_log_prob: [half, 0, two, 2 * two, 9],
      rollout_log_prob: [0, 0, 0, 0, 0],
      response_mask: [1, 1, 1, 1, 0],
      response_length: 5,
    }
    const config = { ...off, rollout_is: 'token', rollout_is_threshold: '0.5_2' } as const
    const { rollout_is_weights, metrics } = rolloutIsWeights(wide, config)
    expectClose(rollout_is_weights ?? [], [0.5, 1, 2, 0, 0], HAND)
    expect(metrics.rollout_is_mean).toBeCloseTo(3.5 / 4, 7)
    expect(metrics.rollout_is_oob_ratio).toBeCloseTo(1 / 4, 7)
    for (const wrong of ['2_0.5', '0_2', 'abc', '1_2_3'])
      expect(() => rolloutIsWeights(wide, { ...config, rollout_is_threshold: wrong })).toThrow(
        RangeError,
      )
  })

  test('no weights are null, not ones', () => {
    expect(rolloutIsWeights(pair, off)).toEqual({ rollout_is_weights: null, metrics: {} })
  })

  test('bad settings and tensors are refused by name', () => {
    const token = { ...off, rollout_is: 'token' } as const
    expect(() => rolloutIsWeights(pair, { ...token, rollout_is_threshold: 0 })).toThrow(
      /rollout_is_threshold: expected a number above 0 or lower_upper, got 0/,
    )
    expect(() => rolloutIsWeights({ ...pair, old_log_prob: [1] }, token)).toThrow(
      /old_log_prob: expected 4 numbers, got 1/,
    )
    expect(() => rolloutIsWeights(pairOf([[0, 0]]), token)).toThrow(/at least one token/)
  })
})

describe('diagnostics', () => {
  test('of two rows by hand', () => {
    const metrics = offpolicyMetrics(
      pairOf([
        [2, 0.5, 0],
        [4, 0, 0],
      ]),
    )
    const l = Math.log(2)
    const expected = {
      training_ppl: (Math.E + Math.E / 4) / 2,
      training_log_ppl: 1 - l,
      rollout_ppl: Math.E,
      rollout_log_ppl: 1,
      kl: (-2 * l) / 3,
      k3_kl: (2 + 0.5 + 4 - 2 * l - 3) / 3,
      log_ppl_diff: -l,
      log_ppl_abs_diff: l,
      log_ppl_diff_max: 0,
      log_ppl_diff_min: -2 * l,
      ppl_ratio: (1 + 0.25) / 2,
      chi2_token: (4 + 0.25 + 16) / 3 - 1,
      chi2_seq: (1 + 16) / 2 - 1,
    }
    expect(Object.keys(metrics).sort()).toEqual(Object.keys(expected).sort())
    for (const [name, value] of Object.entries(expected))
      expect(metrics[name], name).toBeCloseTo(value, 6)
  })

  test('without rollout log-probs only the perplexity of the policy itself is known', () => {
    const metrics = offpolicyMetrics({ ...pairOf([[1, 1]]), rollout_log_prob: null })
    expect(Object.keys(metrics)).toEqual(['training_ppl', 'training_log_ppl'])
    expect(metrics.training_log_ppl).toBeCloseTo(1, 7)
  })

  test('equal policies are no distance apart', () => {
    const { training_ppl, rollout_ppl, ...rest } = offpolicyMetrics(
      pairOf([
        [1, 1],
        [1, 0],
      ]),
    )
    expect(training_ppl).toBe(rollout_ppl)
    for (const name of ['kl', 'k3_kl', 'log_ppl_diff', 'chi2_seq'])
      expect(rest[name]).toBeCloseTo(0, 7)
  })

  test('differences of probabilities and their correlation', () => {
    const logs = (p: readonly number[]) => p.map(Math.log)
    const train = [0.5, 0.25, 0.75, 0.1]
    const metrics = probabilityMetrics({
      old_log_prob: logs(train),
      rollout_log_prob: logs([0.4, 0.2, 0.6, 0.9]),
      response_mask: [1, 1, 1, 0],
    })
    // differences 0.1, 0.05, 0.15; the rollout's are 0.8 times the others
    expectClose(
      ['max', 'mean', 'std'].map((name) => metrics[`training/rollout_probs_diff_${name}`]),
      [0.15, 0.1, 0.05],
      { rtol: 1e-9, atol: 0 },
    )
    expect(metrics['training/rollout_actor_probs_pearson_corr']).toBeCloseTo(1, 12)
    const none = { old_log_prob: [0], rollout_log_prob: [0], response_mask: [0] }
    expect(probabilityMetrics(none)).toEqual({})
  })
})
