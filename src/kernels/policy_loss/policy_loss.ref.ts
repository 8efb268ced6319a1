// The objectives in f64, with verl's own eps: here n + 1e-8 is not n.

import { clipCovRef, klCovRef } from './cov/policy_loss_cov.ref.ts'
import {
  type LossMode,
  POLICY_LOSS_METRICS,
  type POLICY_LOSS_SUMS,
  pgAggMode,
} from './loss_modes.ts'
import type { Aggregation } from './loss_weights.ts'
import {
  type Coefficients,
  clamp,
  TOKEN_RULES,
  type TokenLoss,
  UNCLIPPED,
} from './policy_loss_token.ref.ts'

type Numbers = ArrayLike<number>

/** verl's eps in masked_mean and in means over a row's tokens. */
const EPS = 1e-8

/** Number of tokens of each row of a mask [rows, R]. */
function rowTokens(mask: Numbers, response_length: number): Float64Array {
  const counts = new Float64Array(mask.length / response_length)
  for (let i = 0; i < mask.length; i++) counts[Math.floor(i / response_length)] += mask[i]
  return counts
}

/**
 * Weights w [rows, R] with agg_loss(L) = Σ w L, 0 where masked (and everywhere if all is).
 * Source: verl verl/trainer/ppo/core_algos.py agg_loss.
 */
export function aggregationWeights(
  mask: Numbers,
  response_length: number,
  aggregation: Aggregation,
): Float64Array {
  const counts = rowTokens(mask, response_length)
  const own_tokens = counts.reduce((a, b) => a + b, 0)
  const ranks = aggregation.dp_size ?? 1
  const tokens = (aggregation.batch_num_tokens ?? own_tokens) / ranks
  const sequences =
    (aggregation.global_batch_size ?? counts.filter((count) => count > 0).length) / ranks
  const weightOfRow = (count: number): number => {
    switch (aggregation.loss_agg_mode) {
      case 'token-mean':
        return 1 / tokens
      case 'seq-mean-token-sum':
        return 1 / sequences
      case 'seq-mean-token-mean':
        return 1 / (count + EPS) / sequences
      case 'seq-mean-token-sum-norm':
        return 1 / (aggregation.loss_scale_factor ?? response_length)
    }
  }
  return Float64Array.from(mask, (m, i) =>
    m === 0 ? 0 : m * weightOfRow(counts[Math.floor(i / response_length)]),
  )
}

/** One of verl's means of loss_mat [rows, R] over its unmasked tokens, and its gradient [rows, R]. */
export function aggLossRef(
  loss_mat: Numbers,
  mask: Numbers,
  response_length: number,
  aggregation: Aggregation,
): { loss: number; d_loss_mat: Float64Array } {
  const d_loss_mat = aggregationWeights(mask, response_length, aggregation)
  const loss = d_loss_mat.reduce((sum, w, i) => (w === 0 ? sum : sum + w * loss_mat[i]), 0)
  return { loss, d_loss_mat }
}

/** verl's names; what is missing has verl's default. */
export interface PolicyLossConfig extends Aggregation {
  /** Stands in for clip_ratio_low and clip_ratio_high where those are missing. Default 0.2. */
  readonly clip_ratio?: number
  readonly clip_ratio_low?: number
  readonly clip_ratio_high?: number
  /** Default 3. */
  readonly clip_ratio_c?: number
  /** Default 1. */
  readonly tau_pos?: number
  /** Default 1.05. */
  readonly tau_neg?: number
  readonly policy_loss?: {
    readonly clip_cov_ratio?: number
    readonly clip_cov_lb?: number
    readonly clip_cov_ub?: number
    readonly kl_cov_ratio?: number
    readonly ppo_kl_coef?: number
  }
  /** Of clip_cov's choice. */
  readonly seed?: number
}

/** All [rows, R], row by row. */
export interface PolicyLossBatch {
  readonly log_probs: Numbers
  /** Under the policy that ratios are to; of reinforce: under the rollout's. */
  readonly old_log_probs: Numbers
  readonly advantages: Numbers
  readonly response_mask: Numbers
  readonly rollout_is_weights?: Numbers | null
  /** R. */
  readonly response_length: number
}

/** d_log_probs [rows, R]; metrics have exactly the keys that verl reports for the loss_mode (POLICY_LOSS_METRICS). */
export interface PolicyLossResult {
  readonly loss: number
  readonly d_log_probs: Float64Array
  readonly metrics: Record<string, number>
}

/** Mean of x over the unmasked tokens of each row [rows]; verl's gspo and geo_mean divide differently. */
function rowMeans(
  batch: PolicyLossBatch,
  x: (i: number) => number,
  divisor: (count: number) => number,
): Float64Array {
  const { response_mask, response_length } = batch
  const means = new Float64Array(response_mask.length / response_length)
  for (let i = 0; i < response_mask.length; i++)
    if (response_mask[i] !== 0) means[Math.floor(i / response_length)] += response_mask[i] * x(i)
  const counts = rowTokens(response_mask, response_length)
  return means.map((sum, row) => sum / divisor(counts[row]))
}

/** GSPO's rule of token i, given its row's mean log ratio. */
function gspo(batch: PolicyLossBatch, { low, high }: Coefficients): (i: number) => TokenLoss {
  const { log_probs, old_log_probs, advantages, response_length } = batch
  const means = rowMeans(
    batch,
    (i) => log_probs[i] - old_log_probs[i],
    (count) => Math.max(count, 1),
  )
  return (i) => {
    const mean = means[Math.floor(i / response_length)]
    const ratio = Math.exp(Math.min(mean, 10))
    const l1 = -advantages[i] * ratio
    const l2 = -advantages[i] * clamp(ratio, 1 - low, 1 + high)
    const clipped = l2 > l1
    const slope = clipped || mean > 10 ? 0 : l1
    const kl = old_log_probs[i] - log_probs[i]
    return { ...UNCLIPPED, loss: Math.max(l1, l2), slope, kl, clipped }
  }
}

/** GMPO as tokens, each with its share of the row's loss, and `weight` 1 / rows in place of an aggregation. */
function geoMean(batch: PolicyLossBatch, { low, high }: Coefficients): (i: number) => TokenLoss {
  const { log_probs, old_log_probs, advantages, rollout_is_weights, response_length } = batch
  const withEps = (count: number) => count + EPS
  const counts = rowTokens(batch.response_mask, response_length)
  const clippedRatio = (i: number) => {
    const x = log_probs[i] - old_log_probs[i]
    const sign = Math.sign(advantages[i])
    const held = clamp(x, -low, high)
    return { x, held, y: sign * Math.min(sign * x, sign * held), moves: sign * x <= sign * held }
  }
  const log_ratio = rowMeans(batch, (i) => clippedRatio(i).y, withEps)
  const advantage = rowMeans(batch, (i) => advantages[i], withEps)
  const log_weight = rowMeans(
    batch,
    (i) => (rollout_is_weights ? Math.log(rollout_is_weights[i] + 1e-10) : 0),
    withEps,
  )
  return (i) => {
    const row = Math.floor(i / response_length)
    const loss = -advantage[row] * Math.exp(log_ratio[row] + log_weight[row])
    const { x, held, moves } = clippedRatio(i)
    return {
      loss: loss / counts[row],
      slope: moves && advantages[i] !== 0 ? loss / (counts[row] + EPS) : 0,
      kl: -x,
      clipped: x !== held && advantages[i] > 0,
      clipped_lower: x !== held && advantages[i] < 0,
    }
  }
}

/** Σ weight · loss over unmasked tokens, its gradient, and the metrics that loss_mode reports, as verl's masked_mean. */
function total(
  loss_mode: LossMode,
  response_mask: Numbers,
  weightOf: (i: number) => number,
  tokenLoss: (i: number) => TokenLoss,
): PolicyLossResult {
  const d_log_probs = new Float64Array(response_mask.length)
  const sums: Partial<Record<(typeof POLICY_LOSS_SUMS)[number], number>> = {}
  const add = (name: (typeof POLICY_LOSS_SUMS)[number], x: number) => {
    sums[name] = (sums[name] ?? 0) + x
  }
  let loss = 0
  let tokens = 0
  for (let i = 0; i < response_mask.length; i++) {
    const mask = response_mask[i]
    if (mask === 0) continue
    const t = tokenLoss(i)
    tokens += mask
    loss += weightOf(i) * t.loss
    d_log_probs[i] = weightOf(i) * t.slope
    add('actor/ppo_kl', mask * t.kl)
    add('actor/pg_clipfrac', mask * Number(t.clipped))
    add('actor/pg_clipfrac_lower', mask * Number(t.clipped_lower))
  }
  const names = POLICY_LOSS_METRICS[loss_mode]
  const metrics = names.map((name) => [name, (sums[name] ?? 0) / (tokens + EPS)] as const)
  return { loss, d_log_probs, metrics: Object.fromEntries(metrics) }
}

/**
 * The policy loss of a loss_mode over one batch, its gradient by log_probs, and verl's metrics of it.
 * Masked tokens are not looked at. Where the two sides of a max or min tie, the unclipped gradient applies in full.
 * Source: verl verl/trainer/ppo/core_algos.py compute_policy_loss_<loss_mode>; formulas in policy_loss.ts.
 */
export function policyLossRef(
  loss_mode: LossMode,
  config: PolicyLossConfig,
  batch: PolicyLossBatch,
): PolicyLossResult {
  const { response_mask, response_length, rollout_is_weights } = batch
  const clip_ratio = config.clip_ratio ?? 0.2
  const clip_ratio_low = config.clip_ratio_low ?? clip_ratio
  const clip_ratio_high = config.clip_ratio_high ?? clip_ratio
  const range = { ...config, clip_ratio_low, clip_ratio_high }
  if (loss_mode === 'clip_cov') return clipCovRef(range, batch)
  if (loss_mode === 'kl_cov') return klCovRef(range, batch)
  const k: Coefficients = {
    low: clip_ratio_low,
    high: clip_ratio_high,
    c: config.clip_ratio_c ?? 3,
    tau_pos: config.tau_pos ?? 1,
    tau_neg: config.tau_neg ?? 1.05,
  }
  if (loss_mode === 'geo_mean') {
    const rows = response_mask.length / response_length
    return total(loss_mode, response_mask, () => 1 / rows, geoMean(batch, k))
  }
  const weights = aggregationWeights(response_mask, response_length, {
    ...config,
    loss_agg_mode: pgAggMode(loss_mode, config.loss_agg_mode),
  })
  const weightOf = (i: number) => weights[i] * (rollout_is_weights?.[i] ?? 1)
  if (loss_mode === 'gspo') return total(loss_mode, response_mask, weightOf, gspo(batch, k))
  const { log_probs, old_log_probs, advantages } = batch
  const rule = TOKEN_RULES[loss_mode]
  return total(loss_mode, response_mask, weightOf, (i) =>
    rule(log_probs[i], old_log_probs[i], advantages[i], k),
  )
}

/** Σ loss_weight · entropy, and the gradient [tokens] of -entropy_coeff times it. */
export function entropyLossRef(
  entropy_coeff: number,
  entropy: Numbers,
  loss_weights: Numbers,
): { entropy: number; d_entropy: Float64Array } {
  const d_entropy = Float64Array.from(loss_weights, (w) => (w === 0 ? 0 : -entropy_coeff * w))
  let mean = 0
  for (let i = 0; i < loss_weights.length; i++)
    if (loss_weights[i] !== 0) mean += loss_weights[i] * entropy[i]
  return { entropy: mean, d_entropy }
}

/** Mean cross-entropy and its gradient [tokens]. */
export function sft_loss_ref(
  inv_token_count: number,
  log_probs: Numbers,
  response_mask: Numbers,
): { d_log_probs: Float64Array; loss: number } {
  const d_log_probs = Float64Array.from(response_mask, (m) => -m * inv_token_count)
  const loss = d_log_probs.reduce((sum, d, i) => sum + d * log_probs[i], 0)
  return { d_log_probs, loss }
}
