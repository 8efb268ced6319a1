// Computes rollout correction from ratios of log-probs in float64.
import { type ROLLOUT_CORRECTION_SUMS, RS_CRITERIA, type RsBounds } from './rollout_correction.ts'

type Numbers = ArrayLike<number>

/** The kernel's params but for the sizes: rollout_is 0 off, 1 token, 2 sequence. */
export type RolloutCorrectionParams = RsBounds & {
  readonly rollout_is: number
  readonly is_threshold: number
  /** 0 = weights are truncated; above 0, IcePop's lower bound. */
  readonly is_lower: number
  readonly batch_normalize: number
  /** 0 = weights are 1, and only the metrics are of those that rollout_is asks for. */
  readonly weighs: number
}

/** All [rows, response_length]. */
export interface RolloutCorrectionBatch {
  readonly log_probs: Numbers
  readonly rollout_log_probs: Numbers
  readonly response_mask: Numbers
  readonly response_length: number
}

/** verl's eps in masked_mean. */
const EPS = 1e-8

const clamp20 = (x: number): number => Math.min(20, Math.max(-20, x))
const sum = (x: readonly number[]): number => x.reduce((a, b) => a + b, 0)

/** The estimates that criteria are named after, of one log ratio. */
const ESTIMATES: Readonly<Record<string, (l: number) => number>> = {
  k1: (l) => -l,
  k2: (l) => (l * l) / 2,
  k3: (l) => Math.expm1(l) - l,
}
/** What makes one number of a row's. */
const REDUCTIONS: Readonly<Record<string, (x: readonly number[]) => number>> = {
  seq_sum: sum,
  seq_mean: (x) => sum(x) / (x.length + EPS),
  seq_max: (x) => Math.max(...x),
}

/** Which tokens of one row, given by their log ratios, every criterion keeps. */
function keptOf(logRatios: readonly number[], bounds: RsBounds): boolean[] {
  const kept = logRatios.map(() => true)
  for (const criterion of RS_CRITERIA) {
    const [, level, estimate] = /^(.*)_(k\d)$/.exec(criterion) as RegExpExecArray
    const values = logRatios.map((l) => ESTIMATES[estimate](clamp20(l)))
    const statistics = level === 'token' ? values : values.map(() => REDUCTIONS[level](values))
    statistics.forEach((x, t) => {
      if (x < bounds[`lower_${criterion}`] || x > bounds[`upper_${criterion}`]) kept[t] = false
    })
  }
  return kept
}

/** Importance weights of one row's tokens before truncation. */
function weightsOf(logRatios: readonly number[], rollout_is: number): number[] {
  if (rollout_is === 0) return logRatios.map(() => 1)
  if (rollout_is === 1) return logRatios.map((l) => Math.exp(clamp20(l)))
  return logRatios.map(() => Math.exp(clamp20(sum(logRatios))))
}

/** verl's divisor: the mean over tokens, or over rows of each row's mean; 1 where that is next to
 * nothing. */
function normFactor(rows: readonly (readonly number[])[], rollout_is: number): number {
  const rowMeans = rows.map((weights) => sum(weights) / (weights.length + EPS))
  const mean =
    rollout_is === 1 ? sum(rows.flat()) / (rows.flat().length + EPS) : sum(rowMeans) / rows.length
  return mean > EPS ? mean : 1
}

/** The kernel rollout_correction in f64, with verl's eps in its means. Masked tokens are not looked
 * at. Source: verl verl/trainer/ppo/rollout_corr_helper.py. */
export function rolloutCorrectionRef(
  params: RolloutCorrectionParams,
  batch: RolloutCorrectionBatch,
): {
  modified_mask: Float64Array
  rollout_is_weights: Float64Array
  metrics: Record<(typeof ROLLOUT_CORRECTION_SUMS)[number], number>
} {
  const { log_probs, rollout_log_probs, response_mask, response_length } = batch
  const { rollout_is } = params
  const rows: number[][] = Array.from({ length: response_mask.length / response_length }, () => [])
  for (let i = 0; i < response_mask.length; i++)
    if (response_mask[i] !== 0) rows[Math.floor(i / response_length)].push(i)
  const filled = rows.filter((row) => row.length > 0)
  const modified_mask = new Float64Array(response_mask.length)
  const rolloutIsWeights = new Float64Array(response_mask.length)
  const { is_lower, is_threshold } = params
  const icepop = is_lower > 0
  const low = icepop ? is_lower : 1 / is_threshold
  const applied = (w: number) =>
    icepop ? (w >= is_lower && w <= is_threshold ? w : 0) : Math.min(w, is_threshold)
  const means = { kl: 0, masked: 0, is: 0, high: 0, low: 0, beyond: 0 }
  for (const row of filled) {
    const logRatios = row.map((i) => log_probs[i] - rollout_log_probs[i])
    const kept = keptOf(logRatios, params)
    const weights = weightsOf(logRatios, rollout_is)
    row.forEach((i, t) => {
      modified_mask[i] = kept[t] ? 1 : 0
      rolloutIsWeights[i] = rollout_is === 0 ? 1 : applied(weights[t])
      means.kl -= logRatios[t]
      means.masked += kept[t] ? 0 : 1
      means.is += icepop ? applied(weights[t]) : weights[t]
      // Of sequence weights, each row counts once, below.
      if (rollout_is !== 2 && weights[t] > is_threshold) means.high++
      if (rollout_is !== 2 && weights[t] < low) means.low++
      if (weights[t] > is_threshold || weights[t] < low) means.beyond++
    })
    if (rollout_is === 2 && weights[0] > is_threshold) means.high++
    if (rollout_is === 2 && weights[0] < low) means.low++
  }
  const tokens = filled.flat().length
  const counted = rollout_is === 2 ? rows.length : tokens + EPS
  const truncated = filled.map((row) => row.map((i) => rolloutIsWeights[i]))
  const normalizes = params.batch_normalize !== 0 && rollout_is !== 0 && tokens > 0
  const factor = normalizes ? normFactor(truncated, rollout_is) : 1
  return {
    modified_mask,
    rollout_is_weights:
      params.weighs === 0
        ? Float64Array.from(response_mask, (m) => (m !== 0 ? 1 : 0))
        : rolloutIsWeights.map((w) => w / factor),
    metrics: {
      'rollout_corr/kl': means.kl / (tokens + EPS),
      'rollout_corr/rollout_rs_masked_fraction': means.masked / (tokens + EPS),
      'rollout_corr/rollout_is_mean': means.is / (tokens + EPS),
      'rollout_corr/rollout_is_batch_norm_factor': tokens > 0 ? factor : 0,
      'rollout_corr/rollout_is_ratio_fraction_high': means.high / counted,
      'rollout_corr/rollout_is_ratio_fraction_low': means.low / counted,
      'rollout_corr/rollout_is_oob_ratio': means.beyond / (tokens + EPS),
    },
  }
}
