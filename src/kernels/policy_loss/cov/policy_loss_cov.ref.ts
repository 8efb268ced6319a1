import {
  aggLossRef,
  type PolicyLossBatch,
  type PolicyLossConfig,
  type PolicyLossResult,
} from '../policy_loss.ref.ts'
import { selectCount } from './policy_loss_cov.ts'

type Numbers = ArrayLike<number>

/** verl's masked_mean has it, its agg_loss has not. */
const EPS = 1e-8

const unmasked = (response_mask: Numbers): number[] =>
  Array.from(response_mask, (m, i) => (m === 0 ? -1 : i)).filter((i) => i >= 0)

/** (A - mean A)(log_prob - mean log_prob) of the tokens in `valid`; means over `valid.length + eps`. */
function covariances(
  { advantages, log_probs }: PolicyLossBatch,
  valid: readonly number[],
  eps: number,
): Float64Array {
  const mean = (x: Numbers) => valid.reduce((sum, i) => sum + x[i], 0) / (valid.length + eps)
  const [mean_advantage, mean_log_prob] = [mean(advantages), mean(log_probs)]
  const cov = new Float64Array(log_probs.length)
  for (const i of valid) cov[i] = (advantages[i] - mean_advantage) * (log_probs[i] - mean_log_prob)
  return cov
}

/** Loss and gradient from the loss L and slope dL/dlog_prob of every token. */
function aggregate(
  config: PolicyLossConfig,
  { response_mask, response_length, rollout_is_weights }: PolicyLossBatch,
  losses: Float64Array,
  slopes: Float64Array,
): { loss: number; d_log_probs: Float64Array } {
  const weighted = (x: Float64Array) =>
    rollout_is_weights ? x.map((v, i) => (v === 0 ? 0 : v * rollout_is_weights[i])) : x
  const { loss, d_loss_mat } = aggLossRef(weighted(losses), response_mask, response_length, config)
  return { loss, d_log_probs: weighted(slopes).map((slope, i) => slope * d_loss_mat[i]) }
}

/** MurmurHash3's finalizer. */
function mixed(x: number): number {
  let h = x >>> 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b) >>> 0
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35) >>> 0
  return (h ^ (h >>> 16)) >>> 0
}

/** The shader's random number of a token, a u32 from 1: what it draws by. */
export const selectionKey = (index: number, seed: number): number =>
  Math.max(1, mixed(mixed(index) ^ mixed(seed ^ 0x9e3779b9)))

/** The first `count` of `tokens` by descending key; ties keep their order. */
const largest = (tokens: readonly number[], key: (i: number) => number, count: number) =>
  new Set([...tokens].sort((a, b) => key(b) - key(a)).slice(0, count))

/**
 * Clip-Cov in f64, see policy_loss_clip_cov; draws the shader's tokens, where rounding does not move a token across a limit.
 * Masked tokens are not looked at.
 */
export function clipCovRef(config: PolicyLossConfig, batch: PolicyLossBatch): PolicyLossResult {
  const lb = config.policy_loss?.clip_cov_lb ?? 1
  const ub = config.policy_loss?.clip_cov_ub ?? 5
  const lowest = 1 - (config.clip_ratio_low ?? config.clip_ratio ?? 0.2)
  const highest = 1 + (config.clip_ratio_high ?? config.clip_ratio ?? 0.2)
  const { log_probs, old_log_probs, advantages } = batch
  const valid = unmasked(batch.response_mask)
  const cov = covariances(batch, valid, EPS)
  const losses = new Float64Array(log_probs.length)
  const slopes = new Float64Array(log_probs.length)
  const candidates: number[] = []
  let kl_sum = 0
  for (const i of valid) {
    const x = log_probs[i] - old_log_probs[i]
    const r = Math.exp(x)
    const unclipped = -advantages[i] * r
    const clipped = -advantages[i] * Math.min(highest, Math.max(lowest, r))
    losses[i] = Math.max(unclipped, clipped)
    if (unclipped >= clipped) slopes[i] = unclipped
    if (unclipped >= clipped && cov[i] > lb && cov[i] < ub) candidates.push(i)
    kl_sum -= x
  }
  const clip_cov_ratio = config.policy_loss?.clip_cov_ratio ?? 0.0002
  const count = selectCount('clip_cov', { clip_cov_ratio, kl_cov_ratio: 1 }, valid.length)
  const dropped = largest(candidates, (i) => selectionKey(i, config.seed ?? 0), count)
  for (const i of dropped) losses[i] = slopes[i] = 0
  return {
    ...aggregate(config, batch, losses, slopes),
    metrics: {
      'actor/ppo_kl': kl_sum / (valid.length + EPS),
      'actor/pg_clipfrac': dropped.size / (valid.length + EPS),
    },
  }
}

/** KL-Cov in f64, see policy_loss_kl_cov. Masked tokens are not looked at. */
export function klCovRef(config: PolicyLossConfig, batch: PolicyLossBatch): PolicyLossResult {
  const kl_cov_ratio = config.policy_loss?.kl_cov_ratio ?? 0.0002
  const ppo_kl_coef = config.policy_loss?.ppo_kl_coef ?? 0.1
  const { log_probs, old_log_probs, advantages } = batch
  const valid = unmasked(batch.response_mask)
  const cov = covariances(batch, valid, 0)
  const count = selectCount('kl_cov', { clip_cov_ratio: 1, kl_cov_ratio }, valid.length)
  const penalized = largest(valid, (i) => cov[i], count)
  const losses = new Float64Array(log_probs.length)
  const slopes = new Float64Array(log_probs.length)
  let kl_sum = 0
  for (const i of valid) {
    const x = log_probs[i] - old_log_probs[i]
    const unclipped = -advantages[i] * Math.exp(x)
    const penalty = penalized.has(i) ? ppo_kl_coef : 0
    losses[i] = unclipped + penalty * Math.abs(x)
    slopes[i] = unclipped + penalty * Math.sign(x)
    kl_sum += Math.abs(x)
  }
  return {
    ...aggregate(config, batch, losses, slopes),
    metrics: { 'actor/ppo_kl': kl_sum / (valid.length + EPS) },
  }
}
