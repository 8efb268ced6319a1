import { describe, expect, test } from 'vitest'

import { Gpu } from '../../kernels/device/gpu.ts'
import {
  LOSS_AGG_MODES,
  type LossAggMode,
} from '../../kernels/policy_loss/aggregations/aggregations.ts'
import { aggregationWeights } from '../../kernels/policy_loss/loss_weights.ref.ts'
import { aggregationParams, loss_weights } from '../../kernels/policy_loss/loss_weights.ts'
import { POLICY_LOSS_SUMS } from '../../kernels/policy_loss/policy_loss_frame.ts'
import { sequence_gradient, sequence_ratio } from '../../kernels/policy_loss/sequence_level.ts'
import { expectClose, randomValues } from '../../kernels/testing.ts'
import { LOSS_KERNELS } from '../learners/loss_kernels.ts'
import { type LossMode, numbersOf, POLICY_LOSSES, pgAggMode, policyLossOf } from './losses.ts'
import { type PolicyLossBatch, policyLossRef } from './policy_loss.ref.ts'

const gpu = await Gpu.open()

/** The losses that choose tokens by their covariance have their own tests. */
const MODES = POLICY_LOSSES.filter(({ choice }) => !choice).map(({ name }) => name)
/** One token; a prime; more rows than lanes; rows longer than a workgroup. */
const SIZES = [
  [1, 1],
  [5, 7],
  [257, 3],
  [4, 301],
] as const

const k = { clip_ratio_low: 0.2, clip_ratio_high: 0.28, clip_ratio_c: 3, tau_pos: 1, tau_neg: 1.05 }

/** A hole in every row, ragged ends, and the last of several rows without a token. */
function maskOf(rows: number, R: number): Float32Array {
  return Float32Array.from({ length: rows * R }, (_, i) => {
    const [row, t] = [Math.floor(i / R), i % R]
    const length = rows > 1 && row === rows - 1 ? 0 : R - (row % 3)
    return Number(t < length && t % 11 !== 4)
  })
}

type Batch = PolicyLossBatch & {
  [name in
    | 'log_probs'
    | 'old_log_probs'
    | 'advantages'
    | 'response_mask'
    | 'rollout_is_weights']: Float32Array
}
function batchOf(rows: number, R: number, seed: number): Batch {
  const n = rows * R
  return {
    log_probs: randomValues(n, seed).map((x) => x - 2),
    old_log_probs: randomValues(n, seed + 1).map((x) => x - 2),
    advantages: randomValues(n, seed + 2),
    response_mask: maskOf(rows, R),
    rollout_is_weights: randomValues(n, seed + 3).map((x) => x + 1.5),
    response_length: R,
  }
}

const upload = (label: string, data: Float32Array) =>
  gpu.tensor(label, 'f32', [data.length], { data })
const nines = (n: number) => new Float32Array(n).fill(9)

async function weights(
  { response_mask, rollout_is_weights, response_length }: Batch,
  [mode, policyMode]: readonly [LossAggMode, LossAggMode],
  params: Omit<Parameters<typeof aggregationParams>[0], 'loss_agg_mode'> & { scale?: number } = {},
) {
  const n = response_mask.length
  const tensors = {
    response_mask: upload('response_mask', response_mask),
    rollout_is_weights: upload('rollout_is_weights', rollout_is_weights),
    token_weights: upload('token_weights', nines(n)),
    loss_weights: upload('loss_weights', nines(n)),
    pg_weights: upload('pg_weights', nines(n)),
  }
  await gpu.run(
    loss_weights,
    {
      rows: n / response_length,
      response_length,
      loss_agg_mode: LOSS_AGG_MODES.indexOf(mode),
      pg_agg_mode: LOSS_AGG_MODES.indexOf(policyMode),
      ...aggregationParams({ ...params, loss_agg_mode: mode }),
      scale: params.scale ?? 1,
    },
    tensors,
  )
  const [token, loss, pg] = await gpu.read(
    tensors.token_weights,
    tensors.loss_weights,
    tensors.pg_weights,
  )
  return { token, loss, pg }
}

describe('loss_weights', () => {
  test.for(SIZES)('matches the reference at %i rows of %i', async ([rows, R]) => {
    const batch = batchOf(rows, R, rows)
    const whole = { batch_num_tokens: 3 * rows, global_batch_size: 2 * rows, loss_scale_factor: 32 }
    for (const [i, mode] of LOSS_AGG_MODES.entries())
      for (const given of [{}, { ...whole, dp_size: 2 }]) {
        const pgMode = LOSS_AGG_MODES[(i + 1) % LOSS_AGG_MODES.length]
        const actual = await weights(batch, [mode, pgMode], { ...given, scale: 0.5 })
        const expected = (loss_agg_mode: LossAggMode) =>
          aggregationWeights(batch.response_mask, R, { loss_agg_mode, ...given }).map((w) => w / 2)
        // Half the division's 2.5 ulp per operation; atol would hide small weights.
        const exact = { atol: 0, rtol: 1e-6 }
        expectClose(actual.token, expected('token-mean'), exact)
        expectClose(actual.loss, expected(mode), exact)
        const pg = expected(pgMode).map((w, j) => w * batch.rollout_is_weights[j])
        expectClose(actual.pg, pg, exact)
      }
  })

  test('no token at all gives zeros, and NaN at masked tokens is not looked at', async () => {
    const batch = batchOf(3, 5, 1)
    batch.response_mask.fill(0)
    batch.rollout_is_weights.fill(Number.NaN)
    for (const mode of LOSS_AGG_MODES) {
      const zeros = new Float32Array(15)
      expect(await weights(batch, [mode, mode])).toEqual({ token: zeros, loss: zeros, pg: zeros })
    }
  })
})

interface RunOptions {
  readonly loss_agg_mode?: LossAggMode
  readonly start?: Float32Array
}

/** Weights from loss_weights, then the loss. */
async function run(
  lossMode: LossMode,
  batch: Batch,
  { loss_agg_mode = 'token-mean', start }: RunOptions = {},
) {
  // A loss that holds the weights is not multiplied by them.
  const weighted = policyLossOf(lossMode).holdsWeights
    ? { ...batch, rollout_is_weights: batch.response_mask }
    : batch
  const modes = [loss_agg_mode, pgAggMode(lossMode, loss_agg_mode)] as const
  const { token, pg } = await weights(weighted, modes)
  const n = batch.log_probs.length
  const rows = n / batch.response_length
  const tensors = {
    log_probs: upload('log_probs', batch.log_probs),
    old_log_probs: upload('old_log_probs', batch.old_log_probs),
    advantages: upload('advantages', batch.advantages),
    token_weights: upload('token_weights', token),
    pg_weights: upload('pg_weights', pg),
    rollout_is_weights: upload('rollout_is_weights', batch.rollout_is_weights),
    d_log_probs: upload('d_log_probs', nines(n)),
    sums: upload('sums', start ?? new Float32Array(POLICY_LOSS_SUMS.length)),
  }
  const { response_length } = batch
  const shared = { rows, response_length, sequence_scale: 1 / rows, select_count: 0, seed: 0 }
  const params = { ...shared, ...numbersOf(policyLossOf(lossMode), k) }
  await gpu.run(LOSS_KERNELS[lossMode].loss, params, tensors)
  const [d_log_probs, sums] = await gpu.read(tensors.d_log_probs, tensors.sums)
  return { d_log_probs, sums, pg }
}

/** What `sums` should hold: the loss, and 0 for metrics that verl has not. */
function expectedSums({ loss, metrics }: ReturnType<typeof policyLossRef>) {
  return POLICY_LOSS_SUMS.map((name) => (name === 'actor/pg_loss' ? loss : (metrics[name] ?? 0)))
}

describe.for(MODES)('policy_loss_%s', (lossMode) => {
  test.for(SIZES)('matches the reference at %i rows of %i', async ([rows, R]) => {
    const batch = batchOf(rows, R, rows + R)
    for (const loss_agg_mode of LOSS_AGG_MODES) {
      const expected = policyLossRef(lossMode, { ...k, loss_agg_mode }, batch)
      const actual = await run(lossMode, batch, { loss_agg_mode })
      expectClose(actual.d_log_probs, expected.d_log_probs)
      // Sums over hundreds of tokens of both signs.
      expectClose(actual.sums, expectedSums(expected), { atol: 5e-6, rtol: 1e-5 })
    }
  })

  test('adds to its own sums and leaves the others', async () => {
    const batch = batchOf(7, 9, 4)
    const expected = policyLossRef(lossMode, { ...k, loss_agg_mode: 'token-mean' }, batch)
    const { sums } = await run(lossMode, batch, { start: Float32Array.of(1, 2, 3, 4, 5, 6) })
    expectClose(
      sums,
      expectedSums(expected).map((x, i) => x + i + 1),
    )
    expect(Array.from(sums.subarray(4))).toEqual([5, 6])
  })

  test.skipIf(lossMode === 'dro')('advantages of 0 move nothing', async () => {
    const batch = batchOf(6, 9, 9)
    batch.advantages.fill(0)
    expect((await run(lossMode, batch)).d_log_probs).toEqual(new Float32Array(54))
  })

  test('what masked tokens hold does not matter, NaN included', async () => {
    const batch = batchOf(6, 9, 10)
    const clean = await run(lossMode, batch)
    for (const values of [
      batch.log_probs,
      batch.old_log_probs,
      batch.advantages,
      batch.rollout_is_weights,
    ])
      batch.response_mask.forEach((m, i) => {
        if (m === 0) values[i] = Number.NaN
      })
    expect(await run(lossMode, batch)).toEqual(clean)
  })

  test('a batch without a token has no loss and no gradient', async () => {
    const batch = batchOf(3, 5, 11)
    batch.response_mask.fill(0)
    const { d_log_probs, sums } = await run(lossMode, batch)
    expect(d_log_probs).toEqual(new Float32Array(15))
    expect(Array.from(sums, Math.abs)).toEqual([0, 0, 0, 0, 0, 0])
  })

  test('an unchanged policy has ratio exactly 1', async () => {
    const batch = batchOf(30, 10, 8)
    batch.old_log_probs.set(batch.log_probs)
    // One advantage per row that sums without rounding, as geo_mean means it over the row; weights
    // of 1 are no weights.
    batch.advantages.forEach((_, i, all) => {
      all[i] = ((Math.floor(i / 10) % 5) - 2) / 4
    })
    batch.rollout_is_weights.fill(1)
    const { d_log_probs, sums, pg } = await run(lossMode, batch)
    if (lossMode === 'geo_mean') {
      const expected = policyLossRef(lossMode, { ...k, loss_agg_mode: 'token-mean' }, batch)
      // sequence_scale / n instead of pg_weight: two roundings, but no exp or log.
      expectClose(d_log_probs, expected.d_log_probs, { atol: 0, rtol: 3e-7 })
    } else {
      expect(d_log_probs).toEqual(
        batch.advantages.map((a, i) => (a === 0 || pg[i] === 0 ? 0 : Math.fround(-a) * pg[i])),
      )
    }
    expect(Array.from(sums.subarray(1, 4), Math.abs)).toEqual([0, 0, 0])
  })
})

test.for(['vanilla', 'sapo'] as const)(
  'policy_loss_%s: log ratios beyond 20 have no gradient, at 20 they have',
  async (lossMode) => {
    const batch = batchOf(4, 5, 9)
    batch.response_mask.fill(1)
    batch.advantages.fill(1)
    batch.log_probs.fill(-30)
    batch.old_log_probs.fill(-1)
    expect((await run(lossMode, batch)).d_log_probs).toEqual(new Float32Array(20))
    batch.old_log_probs.fill(-10)
    expect((await run(lossMode, batch)).d_log_probs[0]).toBeLessThan(0)
    // The other side, with a gate or a clip that has long closed: finite.
    batch.old_log_probs.fill(-90)
    const { sums } = await run(lossMode, batch)
    expect(sums.every(Number.isFinite)).toBe(true)
  },
)

test('policy_loss_gspo: a mean log ratio above 10 is held and has no gradient', async () => {
  const batch = batchOf(2, 3, 5)
  batch.response_mask.fill(1)
  batch.advantages.fill(-1)
  batch.rollout_is_weights.fill(1)
  batch.old_log_probs.fill(-13)
  batch.log_probs.set([-2, -2, -2, -4, -4, -4])
  const { d_log_probs, sums } = await run('gspo', batch)
  const ratios = [Math.exp(10), Math.exp(9)]
  expectClose(d_log_probs, [0, 0, 0, ratios[1] / 6, ratios[1] / 6, ratios[1] / 6])
  expectClose([sums[0]], [(ratios[0] + ratios[1]) / 2])
})

describe('the ratio of a whole response', () => {
  test.for(SIZES)('is that of each of its tokens at %i rows of %i', async ([rows, R]) => {
    const { log_probs, old_log_probs, response_mask } = batchOf(rows, R, rows)
    for (let i = 0; i < R; i++) old_log_probs[i] = log_probs[i]
    const tensors = {
      log_probs: upload('log_probs', log_probs),
      response_mask: upload('response_mask', response_mask),
      old_log_probs: upload('old_log_probs', old_log_probs),
    }
    await gpu.run(sequence_ratio, { rows, response_length: R }, tensors)
    const [evened] = await gpu.read(tensors.old_log_probs)
    const row = (b: number, values: Float32Array) => Array.from(values.subarray(b * R, (b + 1) * R))
    for (let b = 0; b < rows; b++) {
      const counted = row(b, response_mask).flatMap((m, t) => (m === 0 ? [] : [b * R + t]))
      const total = counted.reduce((sum, i) => sum + log_probs[i] - old_log_probs[i], 0)
      const mean = total / Math.max(1, counted.length)
      const expected = row(b, old_log_probs)
      for (const i of counted) expected[i - b * R] = log_probs[i] - mean
      expectClose(row(b, evened as Float32Array), expected, { atol: 1e-5 })
      // An unchanged row keeps its bits, so its ratio is exactly 1.
      if (b === 0) expect(row(0, evened as Float32Array)).toEqual(row(0, old_log_probs))
    }
  })

  test('spreads a gradient evenly over the tokens that count', async () => {
    const tensors = {
      response_mask: upload('response_mask', Float32Array.of(1, 0, 1, 0, 0, 0)),
      d_log_probs: upload('d_log_probs', Float32Array.of(1, 9, 4, 9, 9, 9)),
    }
    await gpu.run(sequence_gradient, { rows: 2, response_length: 3 }, tensors)
    const [found] = await gpu.read(tensors.d_log_probs)
    expect(Array.from(found)).toEqual([2.5, 0, 2.5, 0, 0, 0])
  })
})
