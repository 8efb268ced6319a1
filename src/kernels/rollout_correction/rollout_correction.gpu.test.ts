import { describe, expect, test } from 'vitest'

import { Gpu } from '../device/gpu.ts'
import { expectClose, randomValues } from '../testing.ts'
import {
  type RolloutCorrectionBatch,
  type RolloutCorrectionParams,
  rolloutCorrectionRef,
} from './rollout_correction.ref.ts'
import {
  ROLLOUT_CORRECTION_SUMS,
  RS_CRITERIA,
  RS_UNBOUNDED,
  rollout_correction,
} from './rollout_correction.ts'

const gpu = await Gpu.open()

const off = {
  rollout_is: 0,
  is_threshold: 1.3,
  is_lower: 0,
  batch_normalize: 0,
  weighs: 1,
  ...RS_UNBOUNDED,
}

/** Log ratios of ±0.5, some tiny; every seventh token and the whole of row 2 are masked. */
function batchOf(rows: number, response_length: number, seed: number) {
  const tokens = rows * response_length
  const rollout_log_probs = randomValues(tokens, seed).map((x) => x - 2)
  const change = randomValues(tokens, seed + 1).map((x, i) => (i % 5 === 0 ? x / 1000 : x / 2))
  return {
    log_probs: rollout_log_probs.map((x, i) => x + change[i]),
    rollout_log_probs,
    response_mask: Float32Array.from({ length: tokens }, (_, i) =>
      i % 7 === 3 || Math.floor(i / response_length) === 2 ? 0 : 1,
    ),
    response_length,
  }
}

async function run(params: RolloutCorrectionParams, batch: RolloutCorrectionBatch) {
  const { response_length } = batch
  const upload = (label: string, data: ArrayLike<number>) =>
    gpu.tensor(label, 'f32', [data.length], { data: Float32Array.from(data) })
  const old = Float32Array.from(batch.response_mask, () => Number.NaN)
  const tensors = {
    log_probs: upload('log_probs', batch.log_probs),
    rollout_log_probs: upload('rollout_log_probs', batch.rollout_log_probs),
    response_mask: upload('response_mask', batch.response_mask),
    modified_mask: upload('modified_mask', old),
    rollout_is_weights: upload('rollout_is_weights', old),
    sums: upload(
      'sums',
      ROLLOUT_CORRECTION_SUMS.map((_, i) => i + 1),
    ),
  }
  const rows = old.length / response_length
  await gpu.run(rollout_correction, { ...params, rows, response_length }, tensors)
  const [modified_mask, rollout_is_weights, sums] = await gpu.read(
    tensors.modified_mask,
    tensors.rollout_is_weights,
    tensors.sums,
  )
  return { modified_mask, rollout_is_weights, sums }
}

async function expectReference(params: RolloutCorrectionParams, batch: RolloutCorrectionBatch) {
  const actual = await run(params, batch)
  const expected = rolloutCorrectionRef(params, batch)
  expect([...actual.modified_mask]).toEqual([...expected.modified_mask])
  expectClose(actual.rollout_is_weights, expected.rollout_is_weights)
  const metrics = ROLLOUT_CORRECTION_SUMS.map((name) => expected.metrics[name])
  expectClose(
    actual.sums,
    metrics.map((x, i) => x + i + 1),
  )
  return expected
}

const sizes = [
  [1, 1],
  [3, 7],
  [16, 16],
  [257, 5],
  [300, 11],
] as const

describe('rollout_correction', () => {
  test.for(sizes.flatMap((size) => [0, 1, 2].map((rollout_is) => [...size, rollout_is] as const)))(
    'matches the reference at [%i, %i] with rollout_is %i',
    async ([rows, columns, rollout_is]) => {
      const batch = batchOf(rows, columns, rows)
      await expectReference({ ...off, rollout_is }, batch)
      await expectReference({ ...off, rollout_is, batch_normalize: 1 }, batch)
      const icepop = { ...off, rollout_is, is_lower: 0.8, batch_normalize: 1 }
      await expectReference(icepop, batch)
      await expectReference({ ...icepop, weighs: 0 }, batch)
    },
  )

  // Bounds that split this batch; seq_sum_k1 and the means have both ends.
  const bounds: Record<(typeof RS_CRITERIA)[number], readonly [number, number]> = {
    token_k1: [-0.3, 0.2],
    token_k2: [-1e30, 0.05],
    token_k3: [-1e30, 0.03],
    seq_sum_k1: [-0.5, 0.4],
    seq_sum_k2: [-1e30, 0.4],
    seq_sum_k3: [-1e30, 0.35],
    seq_mean_k1: [-0.05, 0.04],
    seq_mean_k2: [-1e30, 0.035],
    seq_mean_k3: [-1e30, 0.035],
    seq_max_k2: [-1e30, 0.11],
    seq_max_k3: [-1e30, 0.11],
  }
  const boundsOf = (name: (typeof RS_CRITERIA)[number]) => ({
    [`lower_${name}`]: bounds[name][0],
    [`upper_${name}`]: bounds[name][1],
  })

  test.for(RS_CRITERIA)('%s rejects what the reference rejects', async (name) => {
    const batch = batchOf(40, 11, 3)
    const { metrics } = await expectReference({ ...off, ...boundsOf(name) }, batch)
    const rejected = metrics['rollout_corr/rollout_rs_masked_fraction']
    expect(rejected, 'the bounds must split the batch').toBeGreaterThan(0.05)
    expect(rejected).toBeLessThan(0.95)
  })

  test('criteria combine, with weights beside them', async () => {
    const params = { ...off, ...boundsOf('token_k3'), ...boundsOf('seq_mean_k1') }
    const batch = batchOf(40, 11, 5)
    const { metrics } = await expectReference(
      { ...params, rollout_is: 2, batch_normalize: 1 },
      batch,
    )
    expect(metrics['rollout_corr/rollout_rs_masked_fraction']).toBeLessThan(0.95)
  })

  test('k3 of nearly equal policies keeps its digits', async () => {
    // l = 1e-3 and 2e-3: k3 = 5e-7 and 2e-6, where e^l - 1 - l in f32 is off by 6e-8.
    const rollout_log_probs = [0, 0]
    const batch = {
      log_probs: [1e-3, 2e-3],
      rollout_log_probs,
      response_mask: [1, 1],
      response_length: 2,
    }
    const tight = { ...off, upper_token_k3: 5.01e-7 }
    expect([...(await run(tight, batch)).modified_mask]).toEqual([1, 0])
    expect([...(await run({ ...off, upper_token_k3: 4.99e-7 }, batch)).modified_mask]).toEqual([
      0, 0,
    ])
  })

  test('what stands at masked tokens does not matter, NaN included', async () => {
    const params = { ...off, ...boundsOf('seq_mean_k2'), rollout_is: 2, batch_normalize: 1 }
    const batch = batchOf(9, 13, 7)
    const clean = await run(params, batch)
    for (const values of [batch.log_probs, batch.rollout_log_probs])
      batch.response_mask.forEach((m, i) => {
        if (m === 0) values[i] = Number.NaN
      })
    expect(await run(params, batch)).toEqual(clean)
  })

  test('without a token nothing is added and all is 0', async () => {
    const batch = batchOf(3, 4, 1)
    batch.response_mask.fill(0)
    const { modified_mask, rollout_is_weights, sums } = await run(
      { ...off, rollout_is: 1, batch_normalize: 1 },
      batch,
    )
    expect([...modified_mask, ...rollout_is_weights]).toEqual(Array(24).fill(0))
    expect([...sums]).toEqual([1, 2, 3, 4, 5, 6, 7])
  })

  test('the same policy has weight exactly 1, and log ratios of hundreds stay finite', async () => {
    const batch = batchOf(5, 6, 2)
    const same = { ...batch, rollout_log_probs: batch.log_probs }
    for (const rollout_is of [1, 2])
      expect((await run({ ...off, rollout_is }, same)).rollout_is_weights).toEqual(
        batch.response_mask,
      )
    const far = {
      ...batch,
      rollout_log_probs: batch.log_probs.map((x, i) => x + (i % 2 ? 400 : -400)),
    }
    for (const rollout_is of [1, 2]) {
      const { modified_mask, rollout_is_weights, sums } = await run({ ...off, rollout_is }, far)
      expect([...modified_mask]).toEqual([...batch.response_mask])
      expect([...rollout_is_weights, ...sums].every(Number.isFinite)).toBe(true)
    }
  })
})
