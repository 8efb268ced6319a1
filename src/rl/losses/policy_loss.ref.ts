// Computes any policy loss over a whole batch in float64: its declared rule, verl's mean, verl's
// metrics.

import { aggregationWeights } from '../../kernels/policy_loss/loss_weights.ref.ts'
import type { Aggregation } from '../../kernels/policy_loss/loss_weights.ts'
import {
  type LossMode,
  numbersOf,
  pgAggMode,
  policyLossOf,
  type SomeLossSettings,
} from './losses.ts'
import type { PolicyLoss } from './policy_loss.ts'
import { atLevel, type SamplingLevel } from './sequence_level.ts'

type Numbers = ArrayLike<number>

/** verl's eps in masked_mean. */
const EPS = 1e-8

/** verl's names; what is missing has its default. */
export interface PolicyLossConfig extends Aggregation, SomeLossSettings {
  /** Replaces clip_ratio_low and clip_ratio_high where those are missing. */
  readonly clip_ratio?: number
  /** 'token' where it is missing. */
  readonly importance_sampling_level?: SamplingLevel
  /** Of a choice of tokens that is left to chance. */
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

/** d_log_probs [rows, R]; metrics have exactly the keys that verl reports for the loss_mode
 * (POLICY_LOSS_METRICS). */
export interface PolicyLossResult {
  readonly loss: number
  readonly d_log_probs: Float64Array
  readonly metrics: Record<string, number>
}

/** The weight of every token's loss. */
function weightsOf(
  { name, ownMean, holdsWeights }: PolicyLoss<LossMode>,
  config: PolicyLossConfig,
  { response_mask, response_length, rollout_is_weights }: PolicyLossBatch,
): Float64Array {
  const loss_agg_mode = pgAggMode(name, config.loss_agg_mode)
  const factors = holdsWeights ? undefined : rollout_is_weights
  if (ownMean !== 'responses')
    return aggregationWeights(response_mask, response_length, { ...config, loss_agg_mode }).map(
      (weight, i) => (weight === 0 ? 0 : weight * (factors?.[i] ?? 1)),
    )
  // Each token has an even share of its response, which knows of the importance weights itself.
  const global_batch_size = response_mask.length / response_length
  const mean = { loss_agg_mode: 'seq-mean-token-sum', global_batch_size } as const
  const counts = new Float64Array(global_batch_size)
  for (let i = 0; i < response_mask.length; i++)
    counts[Math.floor(i / response_length)] += response_mask[i]
  return aggregationWeights(response_mask, response_length, mean).map((weight, i) =>
    weight === 0 ? 0 : weight / counts[Math.floor(i / response_length)],
  )
}

/** The policy loss of a loss_mode over one batch, its gradient by log_probs, and verl's metrics of
 * it. Masked tokens are not looked at.
 * Source: verl verl/trainer/ppo/core_algos.py compute_policy_loss_<loss_mode>; the formula is in
 * the loss's own file. */
export function policyLossRef(
  lossMode: LossMode,
  config: PolicyLossConfig,
  batch: PolicyLossBatch,
): PolicyLossResult {
  const { clip_ratio, importance_sampling_level = 'token', ...given } = config
  const loss = atLevel(policyLossOf(lossMode), importance_sampling_level)
  const both =
    clip_ratio === undefined ? {} : { clip_ratio_low: clip_ratio, clip_ratio_high: clip_ratio }
  const k = numbersOf(loss, { ...both, ...given })
  const weights = weightsOf(loss, config, batch)
  const chosen = loss.choice?.chosen(batch, k, config.seed ?? 0)
  const { response_length: R, response_mask } = batch
  const d_log_probs = new Float64Array(response_mask.length)
  const sums = { 'actor/ppo_kl': 0, 'actor/pg_clipfrac': 0, 'actor/pg_clipfrac_lower': 0 }
  let total = 0
  let tokens = 0
  for (let first = 0; first < response_mask.length; first += R) {
    const rule = loss.rule(rowOf(batch, first, chosen), k)
    for (let i = first; i < first + R; i++) {
      if (response_mask[i] === 0) continue
      const token = rule(i - first)
      tokens++
      total += weights[i] * token.loss
      d_log_probs[i] = weights[i] * token.slope
      sums['actor/ppo_kl'] += token.kl
      sums['actor/pg_clipfrac'] += Number(token.isLeftOut ?? token.clipped === 1)
      sums['actor/pg_clipfrac_lower'] += Number(token.clipped === 2)
    }
    if (importance_sampling_level === 'sequence' && loss.hasLevel === 'through_ratio')
      evenOut(d_log_probs, response_mask, first, R)
  }
  const reported: Readonly<Record<string, number>> = sums
  const metrics = loss.metrics.map((name) => [name, reported[name] / (tokens + EPS)] as const)
  return { loss: total, d_log_probs, metrics: Object.fromEntries(metrics) }
}

/** The mean of a response's gradient at each of its tokens. */
function evenOut(d_log_probs: Float64Array, mask: Numbers, first: number, R: number): void {
  const tokens = Array.from({ length: R }, (_, t) => first + t).filter((i) => mask[i] !== 0)
  const mean = tokens.reduce((sum, i) => sum + d_log_probs[i], 0) / tokens.length
  for (const i of tokens) d_log_probs[i] = mean
}

/** The response that begins at token `first` of a batch. */
function rowOf(batch: PolicyLossBatch, first: number, chosen: ReadonlySet<number> | undefined) {
  const cut = (x: Numbers): number[] =>
    Array.prototype.slice.call(x, first, first + batch.response_length)
  const { rollout_is_weights } = batch
  return {
    log_probs: cut(batch.log_probs),
    old_log_probs: cut(batch.old_log_probs),
    advantages: cut(batch.advantages),
    response_mask: cut(batch.response_mask),
    ...(rollout_is_weights && { rollout_is_weights: cut(rollout_is_weights) }),
    ...(chosen && {
      chosen: Array.from({ length: batch.response_length }, (_, t) =>
        Number(chosen.has(first + t)),
      ),
    }),
  }
}
