// Describes importance weights and rejection criteria over a batch: verl's rollout_is_* and
// rollout_rs_* diagnostics.
import type { RsCriterion } from '../../kernels/rollout_correction/rollout_correction.ts'
import { maskedMean, maskedMeanRows, maskedSumRows } from '../math/masked.ts'
import { fraction, maximum, mean, minimum, select, variance } from '../math/stats.ts'
import type { WeightBounds } from './importance_threshold.ts'

type Numbers = ArrayLike<number>

/** Log ratios are clamped to ± this before they are exponentiated (verl's SAFETY_BOUND). */
export const LOG_RATIO_BOUND = 20

/** response_mask [B, R] and R. */
export interface MaskedRows {
  readonly response_mask: Numbers
  readonly response_length: number
}

const clamp = (x: number, low: number, high: number) => Math.min(Math.max(x, low), high)

const indicator = (x: Numbers, test: (value: number) => boolean) =>
  Float64Array.from(x, (value) => (test(value) ? 1 : 0))

/** Unbiased; 0 for a single number, as verl reports it. */
const spread = (x: Numbers) => (x.length > 1 ? Math.sqrt(variance(x, { unbiased: true })) : 0)

/** sqrt(E[x²] - E[x]²) over the mask; 0 for fewer than two tokens. */
function maskedStd(x: Float64Array, mask: Numbers): number {
  if (fraction(mask, (m) => m !== 0) * mask.length < 2) return 0
  const centre = maskedMean(x, mask)
  const second = maskedMean(
    x.map((value) => value * value),
    mask,
  )
  return Math.sqrt(Math.max(0, second - centre * centre))
}

/** Bounds outside of which a statistic counts as high or low. */
interface Bounds {
  readonly lower: number
  readonly upper: number
}

/** Which weights `isMetrics` describes: those before truncation (verl up to 0.7) or what is applied
 * (since 0.8). */
export type DescribedWeights = 'raw' | 'applied'

/** `rollout_is_*` of weights [B, R] with the mask applied, before and after their bounds.
 * `sequenceLogRatio` [B] is given for sequence weights, whose extremes and fractions are taken
 * over rows and unclamped; without it over tokens. Fractions always count raw weights; without a
 * lower bound 1 / upper is it (verl verl/trainer/ppo/rollout_corr_helper.py compute_is_metrics). */
export function isMetrics(
  { raw, applied }: { readonly raw: Float64Array; readonly applied: Float64Array },
  { response_mask: mask, response_length }: MaskedRows,
  bounds: WeightBounds,
  sequenceLogRatio: Float64Array | null,
  describes: DescribedWeights = bounds.lower === null ? 'raw' : 'applied',
): Record<string, number> {
  const { upper } = bounds
  const lower = bounds.lower ?? 1 / upper
  const weights = describes === 'raw' ? raw : applied
  const clamped = weights.map((w) => clamp(w, describes === 'raw' ? lower : 0, upper))
  const centre = maskedMean(clamped, mask) + 1e-8
  const normalized = clamped.map((w) => (w / centre) ** 2)
  const rows = maskedMeanRows(weights, mask, response_length)
  const rawRows = maskedMeanRows(raw, mask, response_length)
  const share = (test: (w: number) => boolean) => maskedMean(indicator(raw, test), mask)
  const extremes = sequenceLogRatio
    ? {
        rollout_is_max: Math.exp(Math.min(maximum(sequenceLogRatio), LOG_RATIO_BOUND)),
        rollout_is_min: Math.exp(minimum(sequenceLogRatio)),
        rollout_is_ratio_fraction_high: fraction(sequenceLogRatio, (l) => l > Math.log(upper)),
        rollout_is_ratio_fraction_low: fraction(sequenceLogRatio, (l) => l < Math.log(lower)),
      }
    : {
        rollout_is_max: maximum(select(weights, mask)),
        rollout_is_min: minimum(select(weights, mask)),
        rollout_is_ratio_fraction_high: share((w) => w > upper),
        rollout_is_ratio_fraction_low: share((w) => w < lower),
      }
  return {
    rollout_is_mean: maskedMean(weights, mask),
    ...extremes,
    rollout_is_std: maskedStd(clamped, mask),
    rollout_is_eff_sample_size: 1 / maskedMean(normalized, mask),
    rollout_is_seq_mean: mean(rows),
    rollout_is_seq_std: spread(rows),
    rollout_is_seq_max: maximum(rows),
    rollout_is_seq_min: minimum(rows),
    rollout_is_seq_max_deviation: maximum(rows.map((w) => Math.abs(w - 1))),
    rollout_is_seq_fraction_high: fraction(rawRows, (w) => w > upper),
    rollout_is_seq_fraction_low: fraction(rawRows, (w) => w < lower),
    ...(bounds.lower !== null && {
      rollout_is_oob_ratio: share((w) => w < lower || w > upper),
    }),
  }
}

/** `rollout_rs_<criterion>_*` of one rejection criterion: `statistic` [B, R] (a row's number in
 * each of its columns for a seq criterion), `keep` [B, R] where it passed. Rows without tokens are
 * left out of the row statistics (verl verl/trainer/ppo/rollout_corr_helper.py
 * compute_rs_metrics). */
export function rejectionMetrics(
  criterion: RsCriterion,
  statistic: Float64Array,
  keep: readonly boolean[],
  { response_mask: mask, response_length }: MaskedRows,
  { lower, upper }: Bounds,
): Record<string, number> {
  const isToken = criterion.startsWith('token')
  const lengths = maskedSumRows(mask, mask, response_length)
  const rowValues = isToken
    ? maskedMeanRows(statistic, mask, response_length)
    : statistic.filter((_, i) => i % response_length === 0)
  const rows = select(rowValues, lengths)
  const rejected = Float64Array.from(keep, (kept) => (kept ? 0 : 1))
  const rejectedRows = select(maskedSumRows(rejected, mask, response_length), lengths)
  const isHigh = (x: number) => x > upper
  const isLow = (x: number) => x < lower
  const share = (test: (x: number) => boolean) =>
    isToken ? maskedMean(indicator(statistic, test), mask) : fraction(rows, test)
  const extremes = isToken ? select(statistic, mask) : rows
  // k2 and k3 have no lower bound; they are never below 0.
  const floor = criterion.endsWith('k1') ? lower : 0
  const metrics: Record<string, number> = {
    mean: maskedMean(statistic, mask),
    max: maximum(extremes),
    min: minimum(extremes),
    fraction_high: share(isHigh),
    fraction_low: share(isLow),
    std: maskedStd(
      statistic.map((x) => clamp(x, floor, upper)),
      mask,
    ),
    seq_mean: mean(rows),
    seq_std: spread(rows),
    seq_max: maximum(rows),
    seq_min: minimum(rows),
    seq_max_deviation: maximum(rows.map(Math.abs)),
    seq_fraction_high: fraction(rows, isHigh),
    masked_fraction: maskedMean(rejected, mask),
    seq_masked_fraction: fraction(rejectedRows, (count) => count > 0),
  }
  if (criterion.endsWith('k1')) metrics.seq_fraction_low = fraction(rows, isLow)
  return Object.fromEntries(
    Object.entries(metrics).map(([name, value]) => [`rollout_rs_${criterion}_${name}`, value]),
  )
}

/** How far apart the probabilities of the sampled tokens are under both policies: the absolute
 * differences (std unbiased) and the correlation, where two tokens differ; nothing without tokens
 * (verl verl/utils/debug/metrics.py calculate_debug_metrics). */
export function probabilityMetrics({
  old_log_prob,
  rollout_log_prob,
  response_mask,
}: {
  readonly old_log_prob: Numbers
  readonly rollout_log_prob: Numbers
  readonly response_mask: Numbers
}): Record<string, number> {
  const probabilities = (logProbs: Numbers) => select(logProbs, response_mask).map(Math.exp)
  const [train, rollout] = [probabilities(old_log_prob), probabilities(rollout_log_prob)]
  if (train.length === 0) return {}
  const differences = train.map((p, i) => Math.abs(p - rollout[i]))
  const metrics = {
    'training/rollout_probs_diff_valid': 1,
    'training/rollout_probs_diff_max': maximum(differences),
    'training/rollout_probs_diff_mean': mean(differences),
  }
  if (differences.length < 2) return metrics
  const deviation = (x: Numbers) => Math.sqrt(variance(x, { unbiased: true }))
  const [a, b] = [mean(train), mean(rollout)]
  const covariance =
    train.reduce((sum, p, i) => sum + (p - a) * (rollout[i] - b), 0) / (train.length - 1)
  const correlation = covariance / (deviation(train) * deviation(rollout))
  return {
    ...metrics,
    'training/rollout_probs_diff_std': deviation(differences),
    ...(Number.isFinite(correlation) && {
      'training/rollout_actor_probs_pearson_corr': correlation,
    }),
  }
}
