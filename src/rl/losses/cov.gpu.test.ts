import { describe, expect, test } from 'vitest'

import { Gpu } from '../../kernels/device/gpu.ts'
import { aggregationWeights } from '../../kernels/policy_loss/loss_weights.ref.ts'
import { expectClose, randomValues } from '../../kernels/testing.ts'
import { LOSS_KERNELS } from '../learners/loss_kernels.ts'
import { numbersOf, policyLossOf } from './losses.ts'
import { type PolicyLossConfig, policyLossRef } from './policy_loss.ref.ts'

const gpu = await Gpu.open()

type Mode = 'clip_cov' | 'kl_cov'

const config = {
  loss_agg_mode: 'seq-mean-token-mean',
  clip_ratio_low: 0.2,
  clip_ratio_high: 0.28,
  policy_loss: {
    clip_cov_ratio: 0.1,
    clip_cov_lb: -0.1,
    clip_cov_ub: 5,
    kl_cov_ratio: 0.1,
    ppo_kl_coef: 0.5,
  },
  seed: 7,
} as const

/** Log ratios within ±0.6, every seventh token masked. */
function batchOf(rows: number, response_length: number, seed: number) {
  const tokens = rows * response_length
  const old_log_probs = randomValues(tokens, seed).map((x) => x - 2)
  const change = randomValues(tokens, seed + 1)
  return {
    log_probs: old_log_probs.map((x, i) => x + 0.6 * change[i]),
    old_log_probs,
    advantages: randomValues(tokens, seed + 2),
    rollout_is_weights: randomValues(tokens, seed + 3).map((x) => x + 1.5),
    response_mask: Float32Array.from({ length: tokens }, (_, i) => (i % 7 === 3 ? 0 : 1)),
    response_length,
  }
}
type Batch = ReturnType<typeof batchOf>

async function run(
  mode: Mode,
  c: Omit<typeof config, 'policy_loss' | 'seed'> & {
    policy_loss: Record<keyof (typeof config)['policy_loss'], number>
    seed: number
  },
  batch: Batch,
  start = new Float32Array(6),
) {
  const { response_length, response_mask, rollout_is_weights } = batch
  const upload = (label: string, data: ArrayLike<number>) =>
    gpu.tensor(label, 'f32', [data.length], { data: Float32Array.from(data) })
  const tokenCount = response_mask.reduce((a, b) => a + b, 0)
  const weights = aggregationWeights(response_mask, response_length, c)
  const tensors = {
    log_probs: upload('log_probs', batch.log_probs),
    old_log_probs: upload('old_log_probs', batch.old_log_probs),
    advantages: upload('advantages', batch.advantages),
    token_weights: upload(
      'token_weights',
      response_mask.map((m) => m / tokenCount),
    ),
    pg_weights: upload(
      'pg_weights',
      weights.map((w, i) => (w === 0 ? 0 : w * rollout_is_weights[i])),
    ),
    rollout_is_weights: upload('rollout_is_weights', rollout_is_weights),
    d_log_probs: upload(
      'd_log_probs',
      response_mask.map(() => Number.NaN),
    ),
    sums: upload('sums', start),
  }
  const params = {
    rows: response_mask.length / response_length,
    response_length,
    sequence_scale: 1,
    seed: c.seed,
    select_count:
      policyLossOf(mode).choice?.count(numbersOf(policyLossOf(mode), c), tokenCount) ?? 0,
    ...numbersOf(policyLossOf(mode), c),
  }
  await gpu.run(LOSS_KERNELS[mode].loss, params, tensors)
  const [d_log_probs, sums] = await gpu.read(tensors.d_log_probs, tensors.sums)
  return { d_log_probs, sums }
}

function reference(mode: Mode, c: PolicyLossConfig, batch: Batch) {
  const { loss, d_log_probs, metrics } = policyLossRef(mode, c, batch)
  const clipfrac = metrics['actor/pg_clipfrac'] ?? 0
  return { d_log_probs, sums: [loss, metrics['actor/ppo_kl'], clipfrac, 0, 0, 0] }
}

const sizes = [
  [1, 1],
  [3, 7],
  [16, 16],
  [1, 257],
  [13, 61],
  [70, 33],
] as const
const modes = ['clip_cov', 'kl_cov'] as const

describe.for(modes)('policy_loss_%s', (mode) => {
  // Gradients shrink with the batch, so they are compared at the size of one token's share.
  const tolerance = (batch: Batch) => ({ atol: 1e-6 / batch.response_mask.length, rtol: 1e-5 })

  test.for(sizes)('matches the reference at [%i, %i]', async ([rows, response_length]) => {
    const batch = batchOf(rows, response_length, rows)
    const actual = await run(mode, config, batch)
    const expected = reference(mode, config, batch)
    expectClose(actual.d_log_probs, expected.d_log_probs, tolerance(batch))
    expectClose(actual.sums, expected.sums)
  })

  test.for([1e-9, 0.02, 0.5, 1])('chooses a share of %f exactly, over seeds', async (share) => {
    const policy_loss = { ...config.policy_loss, clip_cov_ratio: share, kl_cov_ratio: share }
    for (const seed of [0, 1, 0xffffffff]) {
      const c = { ...config, policy_loss, seed }
      const batch = batchOf(9, 31, 40 + (seed & 7))
      const actual = await run(mode, c, batch)
      expectClose(actual.d_log_probs, reference(mode, c, batch).d_log_probs, tolerance(batch))
    }
  })

  test('without a token nothing happens', async () => {
    const batch = batchOf(3, 5, 1)
    batch.response_mask.fill(0)
    const { d_log_probs, sums } = await run(mode, config, batch, Float32Array.of(1, 2, 3, 4, 5, 6))
    expect([...d_log_probs]).toEqual(Array(15).fill(0))
    expect([...sums]).toEqual([1, 2, 3, 4, 5, 6])
  })

  test('adds to its own sums only', async () => {
    const batch = batchOf(5, 9, 2)
    const { sums } = await run(mode, config, batch, Float32Array.of(1, 2, 3, 4, 5, 6))
    expectClose(
      sums,
      reference(mode, config, batch).sums.map((x, i) => x + i + 1),
    )
  })

  test('what masked tokens hold does not matter, NaN included', async () => {
    const batch = batchOf(4, 20, 3)
    const clean = await run(mode, config, batch)
    for (const values of [batch.log_probs, batch.old_log_probs, batch.advantages])
      batch.response_mask.forEach((m, i) => {
        if (m === 0) values[i] = Number.NaN
      })
    expect(await run(mode, config, batch)).toEqual(clean)
  })

  test('log ratios of hundreds stay finite', async () => {
    const batch = batchOf(2, 8, 4)
    batch.log_probs.fill(-0.5)
    batch.old_log_probs.fill(-300)
    const { d_log_probs, sums } = await run(mode, config, batch)
    expect([...d_log_probs, ...sums].every(Number.isFinite)).toBe(true)
  })
})

test('kl_cov: equal covariances are chosen by lowest index, across lanes too', async () => {
  const [rows, response_length] = [30, 30]
  const batch = batchOf(rows, response_length, 6)
  batch.advantages.fill(1) // their mean is exactly 1, so every covariance is 0
  const policy_loss = { ...config.policy_loss, kl_cov_ratio: 0.4 }
  const c = { ...config, policy_loss, loss_agg_mode: 'seq-mean-token-mean' } as const
  const actual = await run('kl_cov', c, batch)
  const free = await run('kl_cov', { ...c, policy_loss: { ...policy_loss, ppo_kl_coef: 0 } }, batch)
  const chosen = [...actual.d_log_probs.keys()].filter(
    (i) => actual.d_log_probs[i] !== free.d_log_probs[i],
  )
  const valid = [...batch.response_mask.keys()].filter((i) => batch.response_mask[i] === 1)
  expect(chosen).toEqual(valid.slice(0, Math.trunc(0.4 * valid.length)))
})

test('clip_cov: advantages of 0 move nothing, and another seed drops other tokens', async () => {
  const batch = batchOf(6, 20, 8)
  const some = await run('clip_cov', config, batch)
  const other = await run('clip_cov', { ...config, seed: 8 }, batch)
  expect(other.sums[2]).toBeCloseTo(some.sums[2], 6)
  expect(other.d_log_probs).not.toEqual(some.d_log_probs)
  batch.advantages.fill(0)
  expect((await run('clip_cov', config, batch)).d_log_probs).toEqual(new Float32Array(120))
})
