// Runs one objective on a made-up batch, on the GPU and in float64, whole and in parts.
import { expect } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import { klLossRef } from '../../kernels/kl/kl.ref.ts'
import { entropyLossRef } from '../../kernels/policy_loss/entropy_loss.ref.ts'
import { aggregationWeights } from '../../kernels/policy_loss/loss_weights.ref.ts'
import type { Aggregation } from '../../kernels/policy_loss/loss_weights.ts'
import { POLICY_LOSS_SUMS } from '../../kernels/policy_loss/policy_loss_frame.ts'
import { ROLLOUT_CORRECTION_SUMS } from '../../kernels/rollout_correction/rollout_correction.ts'
import { expectClose, randomValues } from '../../kernels/testing.ts'
import type { Actor } from '../config/actor.ts'
import type { LossMode } from '../losses/losses.ts'
import { policyLossRef } from '../losses/policy_loss.ref.ts'
import { RL } from '../testing.ts'
import {
  OBJECTIVE_LIVE,
  type Objective,
  type ObjectiveTensors,
  objectiveLive,
  recordObjective,
} from './objective.ts'

const gpu = await Gpu.open()
export const ROWS = 8
export const R = 5
const SEED = 77

export const ACTOR: Actor = {
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
export const response_mask = Float32Array.from({ length: ROWS * R }, (_, i) => {
  const [row, t] = [Math.floor(i / R), i % R]
  if (row === 6 && t === 1) return 0
  return t < [5, 3, 0, 1, 4, 2, 5, 3][row] ? 1 : 0
})
const old_log_probs = scaled(1, 1, -2)
export const BATCH = {
  response_mask,
  old_log_probs,
  log_probs: scaled(2, 0.5).map((x, i) => x + old_log_probs[i]),
  ref_log_prob: scaled(3, 0.7).map((x, i) => x + old_log_probs[i]),
  advantages: scaled(4, 2),
  entropy: scaled(5, 0.5, 1.5),
  rollout_is_weights: scaled(6, 0.5, 1),
}
export type Batch = typeof BATCH

export const rowsOf = (batch: Batch, first: number, count: number): Batch =>
  Object.fromEntries(
    Object.entries(batch).map(([name, x]) => [name, x.slice(first * R, (first + count) * R)]),
  ) as Batch
export const tokensOf = (mask: ArrayLike<number>) => Array.from(mask).reduce((a, b) => a + b, 0)

interface Result {
  readonly d_log_probs: ArrayLike<number>
  readonly d_entropy: ArrayLike<number>
  readonly sums: Record<string, number>
  readonly correction: Record<string, number>
}

/** The objective of rows [first, first + count) for each part, sums added up and gradients side by
 * side. */
export async function run(
  objective: Objective,
  actor: Actor,
  parts: readonly (readonly [first: number, count: number])[],
): Promise<Result> {
  const miniRows = parts.reduce((n, [, count]) => n + count, 0)
  const miniTokens = tokensOf(BATCH.response_mask)
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
      'entropy_weights',
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
    const microTokens = tokensOf(batch.response_mask)
    const counts = { miniRows, miniTokens, microRows: count, microTokens }
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

/** One call in float64. `scale` is of everything; `policy_mask` and weights stand in for the
 * batch's in the policy loss. */
export function objectiveRef(
  lossMode: LossMode,
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
    lossMode,
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
export const joined = (
  parts: readonly Omit<Result, 'correction'>[],
): Omit<Result, 'correction'> => ({
  d_log_probs: parts.flatMap((part) => Array.from(part.d_log_probs)),
  d_entropy: parts.flatMap((part) => Array.from(part.d_entropy)),
  sums: Object.fromEntries(
    POLICY_LOSS_SUMS.map((name) => [name, parts.reduce((sum, part) => sum + part.sums[name], 0)]),
  ),
})

/** f32 sums of 40 terms. */
export function expectSame(seen: Result, expected: Omit<Result, 'correction'>) {
  const close = { atol: 2e-6, rtol: 2e-5 }
  expectClose(seen.d_log_probs, expected.d_log_probs, close)
  expectClose(seen.d_entropy, expected.d_entropy, close)
  for (const name of POLICY_LOSS_SUMS)
    expect(seen.sums[name], name).toBeCloseTo(expected.sums[name], 4)
}

export const WHOLE = [[0, ROWS]] as const
export const HALVES = [
  [0, 4],
  [4, 4],
] as const
/** The counts of the mini-batch, as verl's engine worker hands them to every micro-batch. */
export const COUNTS = { batch_num_tokens: tokensOf(response_mask), global_batch_size: ROWS }

/** clip_cov and kl_cov count by token: their shares of a part's tokens, not of the mini-batch's,
 * are in the metrics. */
export const withCounts = (
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
