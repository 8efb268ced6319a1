import { describe, expect, test } from 'vitest'

import { expectClose } from '../testing.ts'
import { LOSS_AGG_MODES, type LossAggMode } from './aggregations/aggregations.ts'
import { aggLossRef, aggregationWeights } from './loss_weights.ref.ts'
import { aggregationParams } from './loss_weights.ts'

describe('aggregation', () => {
  // Rows of 2, 0 and 1 tokens; a masked NaN must not be looked at.
  const mask = [1, 1, 0, 0, 0, 0, 0, 1, 0]
  const lossMat = [1, 2, Number.NaN, 9, 9, 9, 9, 6, Number.NaN]
  const lossOf = (loss_agg_mode: LossAggMode, rest = {}) =>
    aggLossRef(lossMat, mask, 3, { loss_agg_mode, ...rest }).loss

  test('the means and the sum, by hand', () => {
    expectClose([lossOf('token-mean')], [9 / 3], { rtol: 1e-15 })
    expectClose([lossOf('seq-mean-token-sum')], [(3 + 6) / 2], { rtol: 1e-15 })
    // verl divides by n + 1e-8.
    const byRow = (3 / (2 + 1e-8) + 6 / (1 + 1e-8)) / 2
    expectClose([lossOf('seq-mean-token-mean')], [byRow], { rtol: 1e-15 })
    expectClose([lossOf('seq-mean-token-sum-norm')], [9 / 3], { rtol: 1e-15 })
    expectClose([lossOf('token-sum')], [9], { rtol: 1e-15 })
    expectClose([lossOf('seq-mean-token-sum-norm-0.7.1')], [9 / 3 / 2], { rtol: 1e-15 })
  })

  test('counts of a whole mini-batch replace its own; ranks multiply, except over a constant', () => {
    const whole = { batch_num_tokens: 12, global_batch_size: 8, loss_scale_factor: 32, dp_size: 2 }
    expectClose([lossOf('token-mean', whole)], [(9 / 12) * 2])
    expectClose([lossOf('seq-mean-token-sum', whole)], [(9 / 8) * 2])
    expectClose([lossOf('seq-mean-token-mean', whole)], [((1.5 + 6) / 8) * 2])
    expectClose([lossOf('seq-mean-token-sum-norm', whole)], [9 / 32])
    expectClose([lossOf('token-sum', whole)], [9 * 2])
    expectClose([lossOf('seq-mean-token-sum-norm-0.7.1', whole)], [(9 / 32 / 8) * 2])
  })

  test('without a token every weight is 0', () => {
    for (const loss_agg_mode of LOSS_AGG_MODES)
      expect(aggregationWeights([0, 0, 0, 0], 2, { loss_agg_mode })).toEqual(new Float64Array(4))
  })

  const loss_agg_mode = 'token-mean'
  test('the kernel gets counts per rank, and 0 for its own', () => {
    expect(aggregationParams({ loss_agg_mode })).toEqual({
      token_count: 0,
      sequence_count: 0,
      loss_scale_factor: 0,
      ranks: 1,
    })
    expect(
      aggregationParams({
        loss_agg_mode,
        batch_num_tokens: 68,
        global_batch_size: 15,
        dp_size: 2,
        loss_scale_factor: 64,
      }),
    ).toEqual({ token_count: 34, sequence_count: 7.5, loss_scale_factor: 64, ranks: 2 })
  })

  test('several ranks need the count that is divided by, and counts are not negative', () => {
    const ranks = { dp_size: 2, batch_num_tokens: 5 }
    expect(() => aggregationParams({ loss_agg_mode, dp_size: 2 })).toThrow(
      /batch_num_tokens: expected a number/,
    )
    expect(aggregationParams({ loss_agg_mode, ...ranks }).token_count).toBe(2.5)
    expect(() =>
      aggregationParams({ loss_agg_mode: 'seq-mean-token-sum-norm-0.7.1', ...ranks }),
    ).toThrow(/global_batch_size: expected a number/)
    expect(aggregationParams({ loss_agg_mode: 'token-sum', dp_size: 2 }).ranks).toBe(2)
    expect(() => aggregationParams({ loss_agg_mode, loss_scale_factor: 0 })).toThrow(
      /loss_scale_factor.*got 0/,
    )
    expect(() => aggregationParams({ loss_agg_mode, batch_num_tokens: -1 })).toThrow(
      /batch_num_tokens.*got -1/,
    )
    expect(() => aggregationParams({ loss_agg_mode, dp_size: Number.NaN })).toThrow(RangeError)
    // A mini-batch without a token is no mistake.
    expect(aggregationParams({ loss_agg_mode, batch_num_tokens: 0 }).token_count).toBe(0)
  })
})
