// The composed objective against float64: policy loss - entropy_coeff · entropy + kl_loss_coef · KL, whole and in parts.
import { describe, expect, test } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import { klLossRef } from '../../kernels/kl/kl.ref.ts'
import { LOSS_AGG_MODES } from '../../kernels/policy_loss/aggregations/aggregations.ts'
import { entropyLossRef } from '../../kernels/policy_loss/entropy_loss.ref.ts'
import { aggregationWeights } from '../../kernels/policy_loss/loss_weights.ref.ts'
import type { Aggregation } from '../../kernels/policy_loss/loss_weights.ts'
import { POLICY_LOSS_SUMS } from '../../kernels/policy_loss/policy_loss_frame.ts'
import { rolloutCorrectionRef } from '../../kernels/rollout_correction/rollout_correction.ref.ts'
import { ROLLOUT_CORRECTION_SUMS } from '../../kernels/rollout_correction/rollout_correction.ts'
import { expectClose, randomValues } from '../../kernels/testing.ts'
import type { Actor } from '../config/actor.ts'
import type { RolloutCorrection } from '../config/algorithm.ts'
import { correctionParams } from '../experience/rollout_correction.ts'
import { LOSS_MODES, type LossMode, POLICY_LOSSES } from '../losses/losses.ts'
import { policyLossRef } from '../losses/policy_loss.ref.ts'
import { RL } from '../testing.ts'
import {
  OBJECTIVE_LIVE,
  type Objective,
  type ObjectiveTensors,
  objectiveLive,
  objectiveOf,
  recordObjective,
} from './objective.ts'

const gpu = await Gpu.open()
const ROWS = 8
const R = 5
const SEED = 77

/** Losses that compare a token with means over its call: there the parts of a batch are not the batch. */
const OF_THE_WHOLE_BATCH = POLICY_LOSSES.filter(({ choice }) => choice).map(({ name }) => name)

const ACTOR: Actor = {
  ...RL.actor,
  clip_ratio_low: 0.15,
  clip_ratio_high: 0.3,
  entropy_coeff: 0.02,
  use_kl_loss: true,
  kl_loss_coef: 0.3,
  kl_loss_type: 'low_var_kl',
  policy_loss: {
    ...RL.actor.policy_loss,
    clip_cov_ratio: 0.15,
    clip_cov_lb: 0.05,
    clip_cov_ub: 5,
    kl_cov_ratio: 0.2,
    ppo_kl_coef: 0.4,
  },
}

const scaled = (seed: number, scale: number, shift = 0) =>
  randomValues(ROWS * R, seed).map((x) => shift + scale * x)
/** Rows of different lengths, one of them empty, and one with a hole as of an observation. */
const response_mask = Float32Array.from({ length: ROWS * R }, (_, i) => {
  const [row, t] = [Math.floor(i / R), i % R]
  if (row === 6 && t === 1) return 0
  return t < [5, 3, 0, 1, 4, 2, 5, 3][row] ? 1 : 0
})
const old_log_probs = scaled(1, 1, -2)
const BATCH = {
  response_mask,
  old_log_probs,
  log_probs: scaled(2, 0.5).map((x, i) => x + old_log_probs[i]),
  ref_log_prob: scaled(3, 0.7).map((x, i) => x + old_log_probs[i]),
  advantages: scaled(4, 2),
  entropy: scaled(5, 0.5, 1.5),
  rollout_is_weights: scaled(6, 0.5, 1),
}
type Batch = typeof BATCH

const rowsOf = (batch: Batch, first: number, count: number): Batch =>
  Object.fromEntries(
    Object.entries(batch).map(([name, x]) => [name, x.slice(first * R, (first + count) * R)]),
  ) as Batch
const tokensOf = (mask: ArrayLike<number>) => Array.from(mask).reduce((a, b) => a + b, 0)

interface Result {
  readonly d_log_probs: ArrayLike<number>
  readonly d_entropy: ArrayLike<number>
  readonly sums: Record<string, number>
  readonly correction: Record<string, number>
}

/** The objective of rows [first, first + count) for each part, sums added up and gradients side by side. */
async function run(
  objective: Objective,
  actor: Actor,
  parts: readonly (readonly [first: number, count: number])[],
): Promise<Result> {
  const mini_rows = parts.reduce((n, [, count]) => n + count, 0)
  const mini_tokens = tokensOf(BATCH.response_mask)
  const sums = gpu.tensor('sums', 'f32', [POLICY_LOSS_SUMS.length])
  const correction_sums = gpu.tensor('corrections', 'f32', [ROLLOUT_CORRECTION_SUMS.length])
  const gradients: ObjectiveTensors[] = []
  for (const [first, count] of parts) {
    const batch = rowsOf(BATCH, first, count)
    const f32 = (name: string, data: Float32Array = new Float32Array(count * R).fill(9)) =>
      gpu.tensor(name, 'f32', [count, R], { data })
    const outputs = [
      'modified_mask',
      'token_weights',
      'loss_weights',
      'pg_weights',
      'kld',
      'd_log_probs',
      'd_entropy',
    ]
    const tensors = Object.fromEntries([
      ...Object.entries(batch).map(([name, data]) => [name, f32(name, data)]),
      ...outputs.map((name) => [name, f32(name)]),
    ]) as ObjectiveTensors
    const program = await gpu.record('objective', OBJECTIVE_LIVE, (r) =>
      recordObjective(r, objective, tensors, { sums, correction_sums }),
    )
    const micro_tokens = tokensOf(batch.response_mask)
    const counts = { mini_rows, mini_tokens, micro_rows: count, micro_tokens }
    gpu.replay(program, objectiveLive(actor, objective.loss_mode, counts, SEED))
    gradients.push(tensors)
  }
  const read = await gpu.read(
    sums,
    correction_sums,
    ...gradients.flatMap((t) => [t.d_log_probs, t.d_entropy]),
  )
  const [totals, corrections, ...slopes] = read
  const named = (names: readonly string[], x: ArrayLike<number>) =>
    Object.fromEntries(names.map((name, i) => [name, x[i]]))
  return {
    d_log_probs: slopes.flatMap((x, i) => (i % 2 === 0 ? [...x] : [])),
    d_entropy: slopes.flatMap((x, i) => (i % 2 === 1 ? [...x] : [])),
    sums: named(POLICY_LOSS_SUMS, totals),
    correction: named(ROLLOUT_CORRECTION_SUMS, corrections),
  }
}

/** One call in float64. `scale` is of everything; `policy_mask` and weights stand in for the batch's in the policy loss. */
function objectiveRef(
  loss_mode: LossMode,
  actor: Actor,
  batch: Batch,
  aggregation: Partial<Aggregation>,
  {
    scale = 1,
    policy_mask = batch.response_mask as ArrayLike<number>,
    rollout_is_weights = batch.rollout_is_weights as ArrayLike<number>,
  } = {},
): Omit<Result, 'correction'> {
  const { loss_agg_mode } = actor
  const mean = { loss_agg_mode, ...aggregation }
  const policy = policyLossRef(
    loss_mode,
    { ...actor, loss_scale_factor: null, ...mean, seed: SEED },
    { ...batch, response_mask: policy_mask, rollout_is_weights, response_length: R },
  )
  const loss_weights = aggregationWeights(batch.response_mask, R, mean)
  const { entropy, d_entropy } = entropyLossRef(actor.entropy_coeff, batch.entropy, loss_weights)
  const kl = klLossRef(actor, { ...batch, loss_weights })
  const sums: Record<string, number> = {
    'actor/pg_loss': policy.loss,
    'actor/ppo_kl': 0,
    'actor/pg_clipfrac': 0,
    'actor/pg_clipfrac_lower': 0,
    ...policy.metrics,
    'actor/entropy': entropy,
    'actor/kl_loss': kl.loss,
  }
  return {
    d_log_probs: policy.d_log_probs.map((d, i) => scale * (d + kl.d_log_probs[i])),
    d_entropy: d_entropy.map((d) => scale * d),
    sums: Object.fromEntries(Object.entries(sums).map(([name, x]) => [name, scale * x])),
  }
}

/** Parts side by side. */
const joined = (parts: readonly Omit<Result, 'correction'>[]): Omit<Result, 'correction'> => ({
  d_log_probs: parts.flatMap((part) => Array.from(part.d_log_probs)),
  d_entropy: parts.flatMap((part) => Array.from(part.d_entropy)),
  sums: Object.fromEntries(
    POLICY_LOSS_SUMS.map((name) => [name, parts.reduce((sum, part) => sum + part.sums[name], 0)]),
  ),
})

/** f32 sums of 40 terms. */
function expectSame(seen: Result, expected: Omit<Result, 'correction'>) {
  const close = { atol: 2e-6, rtol: 2e-5 }
  expectClose(seen.d_log_probs, expected.d_log_probs, close)
  expectClose(seen.d_entropy, expected.d_entropy, close)
  for (const name of POLICY_LOSS_SUMS)
    expect(seen.sums[name], name).toBeCloseTo(expected.sums[name], 4)
}

const WHOLE = [[0, ROWS]] as const
const HALVES = [
  [0, 4],
  [4, 4],
] as const
/** The counts of the mini-batch, as verl's engine worker hands them to every micro-batch. */
const COUNTS = { batch_num_tokens: tokensOf(response_mask), global_batch_size: ROWS }

/** clip_cov and kl_cov count by token: their shares of a part's tokens, not of the mini-batch's, are in the metrics. */
const withCounts = (
  part: Omit<Result, 'correction'>,
  tokens: number,
): Omit<Result, 'correction'> => ({
  ...part,
  sums: Object.fromEntries(
    Object.entries(part.sums).map(([name, x]) => [
      name,
      /ppo_kl|clipfrac/.test(name) ? (x * tokens) / COUNTS.batch_num_tokens : x,
    ]),
  ),
})

const objectiveFor = (actor: Actor, loss_mode: LossMode): Objective =>
  loss_mode === 'reinforce'
    ? { ...objectiveOf({ actor, algorithm: RL.algorithm }), loss_mode }
    : objectiveOf({ actor: { ...actor, loss_mode }, algorithm: RL.algorithm })

describe.for(LOSS_MODES)('%s', (loss_mode) => {
  test.for(LOSS_AGG_MODES)('%s: the whole mini-batch equals float64', async (loss_agg_mode) => {
    const actor = { ...ACTOR, loss_agg_mode }
    const expected = objectiveRef(loss_mode, actor, BATCH, COUNTS)
    const seen = await run(objectiveFor(actor, loss_mode), actor, WHOLE)
    expectSame(seen, expected)
    expect(Math.max(...Array.from(seen.d_log_probs, Math.abs))).toBeGreaterThan(1e-3)
    expect(Array.from(seen.d_log_probs).every((d, i) => response_mask[i] !== 0 || d === 0)).toBe(
      true,
    )
  })

  test.for(LOSS_AGG_MODES)(
    '%s: two micro-batches by the rule of the engine worker',
    async (loss_agg_mode) => {
      const actor = { ...ACTOR, loss_agg_mode }
      const objective = objectiveFor(actor, loss_mode)
      const halves = await run(objective, actor, HALVES)
      if (OF_THE_WHOLE_BATCH.includes(loss_mode)) {
        const parts = HALVES.map(([first, count]) => {
          const batch = rowsOf(BATCH, first, count)
          const part = objectiveRef(loss_mode, actor, batch, COUNTS)
          return withCounts(part, tokensOf(batch.response_mask))
        })
        expectSame(halves, joined(parts))
        return
      }
      const whole = await run(objective, actor, WHOLE)
      expectClose(halves.d_log_probs, whole.d_log_probs, { atol: 1e-7, rtol: 2e-6 })
      expectClose(halves.d_entropy, whole.d_entropy, { atol: 1e-9, rtol: 2e-6 })
      for (const name of POLICY_LOSS_SUMS)
        expect(halves.sums[name], name).toBeCloseTo(whole.sums[name], 5)
    },
  )

  test.for(LOSS_AGG_MODES)(
    '%s: two micro-batches by the rule of the legacy worker are a mean of means',
    async (loss_agg_mode) => {
      // It never hears of loss_scale_factor.
      const legacy: Partial<Actor> = { use_legacy_worker_impl: 'enable', loss_scale_factor: 3 }
      const actor = { ...ACTOR, loss_agg_mode, ...legacy }
      const seen = await run(objectiveFor(actor, loss_mode), actor, HALVES)
      const parts = HALVES.map(([first, count]) =>
        objectiveRef(loss_mode, actor, rowsOf(BATCH, first, count), {}, { scale: count / ROWS }),
      )
      expectSame(seen, joined(parts))
    },
  )
})

test('seq-mean-token-sum-norm divides by loss_scale_factor, or by the columns that a response may fill', async () => {
  const actor: Actor = { ...ACTOR, loss_agg_mode: 'seq-mean-token-sum-norm' }
  const counts = { mini_rows: 8, mini_tokens: 23, micro_rows: 8, micro_tokens: 23 }
  const factor = (change: Partial<Actor>, max_response_length?: number) =>
    objectiveLive(
      { ...actor, ...change },
      'vanilla',
      { ...counts, ...(max_response_length !== undefined && { max_response_length }) },
      0,
    ).loss_scale_factor
  expect(factor({})).toBe(0)
  expect(factor({}, 3)).toBe(3)
  expect(factor({ loss_scale_factor: 7 }, 3)).toBe(7)
  expect(factor({ loss_scale_factor: 7, use_legacy_worker_impl: 'enable' }, 3)).toBe(3)
  const seen = await run(objectiveFor(actor, 'vanilla'), { ...actor, loss_scale_factor: 7 }, WHOLE)
  expectSame(seen, objectiveRef('vanilla', actor, BATCH, { ...COUNTS, loss_scale_factor: 7 }))
})

test('an objective without KL does not look at the reference, one without entropy gives no gradient to it', async () => {
  const actor: Actor = { ...ACTOR, use_kl_loss: false, entropy_coeff: 0 }
  const seen = await run(objectiveFor(actor, 'vanilla'), actor, WHOLE)
  const expected = objectiveRef('vanilla', { ...actor, kl_loss_coef: 0 }, BATCH, COUNTS)
  expectSame(seen, { ...expected, sums: { ...expected.sums, 'actor/kl_loss': 0 } })
  expect(Array.from(seen.d_entropy).every((d) => d === 0)).toBe(true)
})

describe('bypass mode', () => {
  const correction = (change: Partial<RolloutCorrection>): RolloutCorrection => ({
    ...RL.algorithm.rollout_correction,
    bypass_mode: true,
    rollout_is: 'token',
    rollout_is_threshold: 1.2,
    rollout_rs: 'token_k1,seq_mean_k3',
    rollout_rs_threshold: '0.7_1.5,0.09',
    ...change,
  })
  const corrections: readonly (readonly [string, Partial<RolloutCorrection>])[] = [
    ['ppo_clip', { loss_type: 'ppo_clip' }],
    ['reinforce', { loss_type: 'reinforce' }],
    [
      'reinforce by sequence, normalised',
      { loss_type: 'reinforce', rollout_is: 'sequence', rollout_is_batch_normalize: true },
    ],
    ['reinforce without rejection', { loss_type: 'reinforce', rollout_rs: null }],
  ]

  describe.for(corrections)('%s', ([, change]) => {
    const config = correction(change)
    const algorithm = { ...RL.algorithm, rollout_correction: config }
    const loss_mode = config.loss_type === 'reinforce' ? 'reinforce' : 'vanilla'

    /** verl's order: weights and mask of the policy being updated, then the loss; entropy and KL see all tokens. */
    function bypassRef(actor: Actor, batch: Batch, aggregation: Partial<Aggregation>, scale = 1) {
      const { modified_mask, rollout_is_weights, metrics } = rolloutCorrectionRef(
        correctionParams(config),
        { ...batch, rollout_log_probs: batch.old_log_probs, response_length: R },
      )
      const given = { scale, policy_mask: modified_mask, rollout_is_weights }
      return {
        ...objectiveRef(loss_mode, actor, batch, aggregation, given),
        modified_mask,
        metrics,
      }
    }

    test.for(LOSS_AGG_MODES)('%s: the whole mini-batch', async (loss_agg_mode) => {
      const actor: Actor = { ...ACTOR, loss_agg_mode, loss_mode: 'gspo' }
      const objective = objectiveOf({ actor, algorithm })
      expect(objective.loss_mode).toBe(loss_mode)
      const seen = await run(objective, actor, WHOLE)
      const expected = bypassRef(actor, BATCH, COUNTS)
      const kept = tokensOf(expected.modified_mask)
      if (config.rollout_rs) expect(kept).toBeLessThan(COUNTS.batch_num_tokens - 2)
      expect(kept).toBeGreaterThan(5)
      expectSame(seen, withCounts(expected, kept))
      for (const name of ROLLOUT_CORRECTION_SUMS)
        expect(seen.correction[name], name).toBeCloseTo(expected.metrics[name], 5)
    })

    test('the legacy rule: each micro-batch is corrected and divided by itself', async () => {
      const actor: Actor = { ...ACTOR, use_legacy_worker_impl: 'enable' }
      const seen = await run(objectiveOf({ actor, algorithm }), actor, HALVES)
      const parts = HALVES.map(([first, count]) =>
        bypassRef(actor, rowsOf(BATCH, first, count), {}, count / ROWS),
      )
      expectSame(seen, joined(parts))
      for (const name of ROLLOUT_CORRECTION_SUMS)
        expect(seen.correction[name], name).toBeCloseTo(
          parts[0].metrics[name] + parts[1].metrics[name],
          5,
        )
    })
  })

  test('everything rejected: no policy gradient, nothing that is not a number', async () => {
    const none = correction({ rollout_rs: 'seq_max_k2', rollout_rs_threshold: 1e-9 })
    const actor: Actor = { ...ACTOR, use_kl_loss: false }
    for (const use_legacy_worker_impl of ['disable', 'enable'] as const) {
      const objective = objectiveOf({
        actor,
        algorithm: { ...RL.algorithm, rollout_correction: none },
      })
      const seen = await run(objective, { ...actor, use_legacy_worker_impl }, WHOLE)
      expect(Array.from(seen.d_log_probs).every((d) => d === 0)).toBe(true)
      expect(seen.sums['actor/pg_loss']).toBe(0)
      expect(seen.sums['actor/entropy']).toBeGreaterThan(0)
      expect(seen.correction['rollout_corr/rollout_rs_masked_fraction']).toBe(1)
    }
  })
})
