// Corrects for a rollout policy that differs from the policy being trained: truncated importance
// weights, rejection, and how far apart the two are. Log-probs in nats; l = log pi_train - log
// pi_rollout. Tensors are [B, R], R = response_length.
import {
  ROLLOUT_IS,
  RS_CRITERIA,
  RS_UNBOUNDED,
  type RsBounds,
  type RsCriterion,
} from '../../kernels/rollout_correction/rollout_correction.ts'
import { listOf, type RolloutCorrection } from '../config/rollout_correction.ts'
import { maskedMean, maskedMeanRows, maskedSumRows, rowCount } from '../math/masked.ts'
import { fraction, maximum, mean, minimum, select } from '../math/stats.ts'
import { boundedWeight, weightBounds } from './importance_threshold.ts'
import { parseBounds, type RejectionBounds } from './rejection_threshold.ts'
import {
  type DescribedWeights,
  isMetrics,
  LOG_RATIO_BOUND,
  rejectionMetrics,
} from './rollout_correction_metrics.ts'

type Numbers = ArrayLike<number>

export interface LogProbPair {
  /** Of the policy being trained. */
  readonly old_log_prob: Numbers
  /** Of the policy that wrote the responses. */
  readonly rollout_log_prob: Numbers
  readonly response_mask: Numbers
  readonly response_length: number
}

const isCriterion = (name: string): name is RsCriterion =>
  (RS_CRITERIA as readonly string[]).includes(name)

/** The criteria in `rollout_rs` (repeated ones once) and the bounds of their statistics, in the
 * given order; empty for null. The k1 statistic is -l: its bounds are on pi_rollout / pi_train.
 *
 * RangeError for an unknown criterion, a missing threshold, a number of thresholds that is neither
 * 1 nor that of the criteria, and thresholds that are not positive numbers or are the wrong way
 * round
 * (verl verl/trainer/ppo/rollout_corr_helper.py _parse_rollout_rs_thresholds). */
export function rejectionBounds(
  rollout_rs: null | string,
  rollout_rs_threshold: null | string | number,
): Map<RsCriterion, RejectionBounds> {
  if (rollout_rs === null) return new Map()
  const criteria = [...new Set(listOf(rollout_rs))].map((name) => {
    if (isCriterion(name)) return name
    throw new RangeError(`rollout_rs: expected ${RS_CRITERIA.join(', ')}, got "${name}"`)
  })
  if (criteria.length === 0)
    throw new RangeError(`rollout_rs: expected a criterion or null, got "${rollout_rs}"`)
  const thresholds = listOf(String(rollout_rs_threshold ?? ''))
  if (thresholds.length !== 1 && thresholds.length !== criteria.length)
    throw new RangeError(
      `rollout_rs_threshold: expected 1 or ${criteria.length} thresholds, got ${thresholds.length}`,
    )
  return new Map(
    criteria.map((name, i) => [name, parseBounds(name, thresholds[i] ?? thresholds[0])]),
  )
}

/** The params of kernel `rollout_correction` for bypass mode. `ppo_clip` applies no importance
 * weights there: its ratio to the rollout policy already is one; they are only reported (verl
 * verl/trainer/ppo/core_algos.py compute_policy_loss_bypass_mode). Errors as `rejectionBounds`. */
export function correctionParams(correction: RolloutCorrection): RsBounds & {
  readonly rollout_is: number
  readonly is_threshold: number
  readonly is_lower: number
  readonly batch_normalize: number
  readonly weighs: number
} {
  const bounds = rejectionBounds(correction.rollout_rs, correction.rollout_rs_threshold)
  const params: Record<string, number> = {}
  for (const [criterion, { lower, upper }] of bounds) {
    params[`lower_${criterion}`] = lower
    params[`upper_${criterion}`] = upper
  }
  const { lower, upper } = weightBounds(correction.rollout_is_threshold)
  return {
    ...RS_UNBOUNDED,
    ...params,
    rollout_is: ROLLOUT_IS.indexOf(correction.rollout_is),
    is_threshold: upper,
    is_lower: lower ?? 0,
    batch_normalize: correction.rollout_is_batch_normalize ? 1 : 0,
    // The ratio of ppo_clip is the weight already: verl computes weights for the metrics alone.
    weighs: correction.loss_type === 'reinforce' ? 1 : 0,
  }
}

const clampLog = (l: number) => Math.min(Math.max(l, -LOG_RATIO_BOUND), LOG_RATIO_BOUND)

/** l where the mask is 1, else 0. RangeError for differing lengths or a mask without tokens. */
function logRatio(pair: LogProbPair): Float64Array {
  const { old_log_prob, rollout_log_prob, response_mask, response_length } = pair
  rowCount(response_mask, response_length)
  for (const [name, x] of Object.entries({ old_log_prob, rollout_log_prob }))
    if (x.length !== response_mask.length)
      throw new RangeError(`${name}: expected ${response_mask.length} numbers, got ${x.length}`)
  if (fraction(response_mask, (m) => m !== 0) === 0)
    throw new RangeError('response_mask: expected at least one token, got none')
  return Float64Array.from(response_mask, (m, i) =>
    m !== 0 ? old_log_prob[i] - rollout_log_prob[i] : 0,
  )
}

/** A number per row into each of its columns: [B] → [B, R]. */
function broadcastRows(rows: Float64Array, response_length: number): Float64Array {
  const values = new Float64Array(rows.length * response_length)
  return values.map((_, i) => rows[Math.floor(i / response_length)])
}

/** Truncated importance weights [B, R], 0 where masked: min(exp(clamp(l, ±20)),
 * rollout_is_threshold) per token, or with the sum of a row's l for all of its tokens; a threshold
 * `lower_upper` (IcePop, verl 0.8 and later) sets those outside to 0; with
 * `rollout_is_batch_normalize` divided by their mean (over tokens, or over non-empty rows). Null
 * when `rollout_is` is null. Metrics describe the weights before truncation as in verl up to 0.7,
 * or what is applied as in verl since 0.8; without a word of the caller the second with IcePop
 * alone, so that recorded runs stay comparable.
 *
 * verl verl/trainer/ppo/rollout_corr_helper.py compute_rollout_correction_weights. RangeError for a
 * threshold that is none (`weightBounds`), differing lengths, or a mask without tokens. */
export function rolloutIsWeights(
  pair: LogProbPair,
  {
    rollout_is,
    rollout_is_threshold: threshold,
    rollout_is_batch_normalize,
  }: Pick<RolloutCorrection, 'rollout_is' | 'rollout_is_threshold' | 'rollout_is_batch_normalize'>,
  describes?: DescribedWeights,
): { rollout_is_weights: Float64Array | null; metrics: Record<string, number> } {
  if (rollout_is === null) return { rollout_is_weights: null, metrics: {} }
  if (rollout_is !== 'token' && rollout_is !== 'sequence')
    throw new RangeError(`rollout_is: expected token, sequence or null, got ${rollout_is}`)
  const bounds = weightBounds(threshold)
  const { response_mask: mask, response_length } = pair
  const logRatios = logRatio(pair)
  const sequence =
    rollout_is === 'sequence' ? maskedSumRows(logRatios, mask, response_length) : null
  const exponent = sequence ? broadcastRows(sequence, response_length) : logRatios
  const raw = exponent.map((l, i) => (mask[i] !== 0 ? mask[i] * Math.exp(clampLog(l)) : 0))
  const weights = raw.map((w) => boundedWeight(w, bounds))
  const metrics = isMetrics({ raw, applied: weights }, pair, bounds, sequence, describes)
  if (!rollout_is_batch_normalize) return { rollout_is_weights: weights, metrics }
  const lengths = maskedSumRows(mask, mask, response_length)
  const average = sequence
    ? mean(select(maskedMeanRows(weights, mask, response_length), lengths))
    : maskedMean(weights, mask)
  const factor = average > 1e-8 ? average : 1
  return {
    rollout_is_weights: weights.map((w) => w / factor),
    metrics: { ...metrics, rollout_is_batch_norm_factor: factor },
  }
}

/** k1 = -l, k2 = l²/2, k3 = e^l - 1 - l of l clamped to ±20 (Schulman 2020, "Approximating KL
 * divergence"). */
const ESTIMATORS: Readonly<Record<string, (l: number) => number>> = {
  k1: (l) => -l,
  k2: (l) => (l * l) / 2,
  k3: (l) => Math.exp(l) - 1 - l,
}

/** A criterion's statistic at every position [B, R]: per token, or the row's sum, mean or maximum
 * in all its columns. */
function rejectionStatistic(
  criterion: RsCriterion,
  logRatios: Float64Array,
  { response_mask: mask, response_length }: LogProbPair,
): Float64Array {
  const estimator = ESTIMATORS[criterion.slice(-2)]
  const tokens = logRatios.map((l) => estimator(clampLog(l)))
  if (criterion.startsWith('token')) return tokens
  if (criterion.startsWith('seq_sum'))
    return broadcastRows(maskedSumRows(tokens, mask, response_length), response_length)
  if (criterion.startsWith('seq_mean'))
    return broadcastRows(maskedMeanRows(tokens, mask, response_length), response_length)
  // k2 and k3 are 0 where masked and never negative.
  const largest = new Float64Array(tokens.length / response_length)
  tokens.forEach((x, i) => {
    const row = Math.floor(i / response_length)
    largest[row] = Math.max(largest[row], x)
  })
  return broadcastRows(largest, response_length)
}

/** response_mask [B, R] without the tokens (token_*) and responses (seq_*) that any criterion of
 * `rollout_rs` rejects; unchanged for null. Metrics: `rollout_rs_masked_fraction`,
 * `rollout_rs_seq_masked_fraction` (rows that lost a token), and those of each criterion
 * (`rejectionMetrics`).
 *
 * verl verl/trainer/ppo/rollout_corr_helper.py compute_rollout_rejection_mask. RangeError as
 * `rejectionBounds` and for differing lengths or a mask without tokens. */
export function rolloutRejectionMask(
  pair: LogProbPair,
  {
    rollout_rs,
    rollout_rs_threshold,
  }: Pick<RolloutCorrection, 'rollout_rs' | 'rollout_rs_threshold'>,
): { response_mask: Float64Array; metrics: Record<string, number> } {
  const { response_mask: mask, response_length } = pair
  const bounds = rejectionBounds(rollout_rs, rollout_rs_threshold)
  const response_mask = Float64Array.from(mask)
  const metrics: Record<string, number> = {}
  if (bounds.size === 0) return { response_mask, metrics }
  const logRatios = logRatio(pair)
  for (const [criterion, bound] of bounds) {
    const statistic = rejectionStatistic(criterion, logRatios, pair)
    const keep = Array.from(statistic, (x) => x >= bound.lower && x <= bound.upper)
    keep.forEach((kept, i) => {
      if (!kept) response_mask[i] = 0
    })
    Object.assign(metrics, rejectionMetrics(criterion, statistic, keep, pair, bound))
  }
  const rejected = response_mask.map((m, i) => (m === 0 && mask[i] !== 0 ? 1 : 0))
  metrics.rollout_rs_masked_fraction = maskedMean(rejected, mask)
  const rejectedRows = maskedSumRows(rejected, mask, response_length)
  metrics.rollout_rs_seq_masked_fraction = fraction(rejectedRows, (count) => count > 0)
  return { response_mask, metrics }
}

/** How far the two policies are apart: perplexities (means over rows), KL(rollout || train) by k1
 * and k3 (means over tokens), per-row differences of log-perplexity, and chi-squared divergences of
 * tokens and rows (logRatios clamped to e^±20). Without rollout log-probs only the trained policy's
 * perplexity.
 *
 * verl verl/trainer/ppo/rollout_corr_helper.py compute_offpolicy_metrics. Errors as
 * `rolloutIsWeights`. */
export function offpolicyMetrics(
  input: Omit<LogProbPair, 'rollout_log_prob'> & { readonly rollout_log_prob: Numbers | null },
): Record<string, number> {
  const { old_log_prob, rollout_log_prob, response_mask: mask, response_length } = input
  const logRatios = logRatio({ ...input, rollout_log_prob: rollout_log_prob ?? old_log_prob })
  const negative = (x: number) => -x
  const train = maskedMeanRows(old_log_prob, mask, response_length).map(negative)
  const metrics = { training_ppl: mean(train.map(Math.exp)), training_log_ppl: mean(train) }
  if (rollout_log_prob === null) return metrics
  const rollout = maskedMeanRows(rollout_log_prob, mask, response_length).map(negative)
  const differences = train.map((x, b) => x - rollout[b])
  const sums = maskedSumRows(logRatios, mask, response_length)
  const square = (l: number) => Math.exp(2 * clampLog(l))
  return {
    ...metrics,
    kl: -maskedMean(logRatios, mask),
    k3_kl: maskedMean(
      logRatios.map((l) => Math.exp(l) - l - 1),
      mask,
    ),
    rollout_ppl: mean(rollout.map(Math.exp)),
    rollout_log_ppl: mean(rollout),
    log_ppl_diff: mean(differences),
    log_ppl_abs_diff: mean(differences.map(Math.abs)),
    log_ppl_diff_max: maximum(differences),
    log_ppl_diff_min: minimum(differences),
    ppl_ratio: mean(differences.map(Math.exp)),
    chi2_token: maskedMean(logRatios.map(square), mask) - 1,
    chi2_seq: mean(sums.map(square)) - 1,
  }
}
