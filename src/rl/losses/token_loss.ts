// What a policy loss makes of the tokens of one response, in float64: the rules of kernels/policy_loss for people to follow.
// Loads nothing, so that the page may use it.
import type { LossMode } from '../../kernels/policy_loss/loss_modes.ts'

type Numbers = ArrayLike<number>

/** One response; arrays of R, of which the tokens with mask 0 are left out. */
export interface ResponseTokens {
  readonly log_probs: Numbers
  readonly old_log_probs: Numbers
  readonly advantages: Numbers
  readonly response_mask: Numbers
  readonly rollout_is_weights?: Numbers | undefined
  /** 1 where clip_cov or kl_cov chose the token; absent = nowhere. */
  readonly chosen?: Numbers | undefined
}

/** The numbers of a phase that decide about a token. */
export interface LossNumbers {
  readonly clip_ratio_low: number
  readonly clip_ratio_high: number
  /** Dual clip: for negative advantages the loss is at most -A · c. */
  readonly clip_ratio_c: number
  /** sapo: sharpness of its gate for positive and negative advantages. */
  readonly tau_pos: number
  readonly tau_neg: number
  /** kl_cov: coefficient of the penalty on the tokens that it chooses. */
  readonly policy_loss: { readonly ppo_kl_coef: number }
}

/** 0: the gradient passes; 1: the clip of the ratio holds it; 2: dual clip does, or GMPO's clip of a bad response. */
export type Clipped = 0 | 1 | 2

export const clamp = (x: number, low: number, high: number): number =>
  Math.min(high, Math.max(low, x))

/** log_prob - old_log_prob of a token, nats. */
export const logRatio = ({ log_probs, old_log_probs }: ResponseTokens, t: number): number =>
  log_probs[t] - old_log_probs[t]

/** exp of the log ratio, which most losses hold within ±20. */
export const heldRatio = (row: ResponseTokens, t: number): number =>
  Math.exp(clamp(logRatio(row, t), -20, 20))

/** Whether the loss chose the token by the covariance of its log-prob and advantage. */
export const isChosen = ({ chosen }: ResponseTokens, t: number): boolean => chosen?.[t] === 1

/** Tokens that count. */
function countedTokens({ response_mask }: ResponseTokens): number {
  let count = 0
  for (let t = 0; t < response_mask.length; t++) if (response_mask[t] !== 0) count++
  return count
}

/** Mean over the tokens that count; 0 without any. */
export function meanOf(row: ResponseTokens, x: (t: number) => number): number {
  let sum = 0
  for (let t = 0; t < row.response_mask.length; t++) if (row.response_mask[t] !== 0) sum += x(t)
  return sum / Math.max(1, countedTokens(row))
}

/** GSPO's ratio of a whole response: exp(min(mean log ratio, 10)). */
export const responseRatio = (row: ResponseTokens): number =>
  Math.exp(
    Math.min(
      meanOf(row, (t) => logRatio(row, t)),
      10,
    ),
  )

/** GMPO's log ratio of a token, clipped where that is the more cautious side. */
export function geoLogRatio(row: ResponseTokens, t: number, k: LossNumbers): number {
  const x = logRatio(row, t)
  const sign = Math.sign(row.advantages[t])
  const held = clamp(x, -k.clip_ratio_low, k.clip_ratio_high)
  // A = 0 gives 0, and never -0.
  return sign === 0 ? 0 : sign * Math.min(sign * x, sign * held)
}

/** PPO's two sides of a token, before its maximum. */
export function surrogates(ratio: number, A: number, k: LossNumbers) {
  const clipped_ratio = clamp(ratio, 1 - k.clip_ratio_low, 1 + k.clip_ratio_high)
  return { plain: -A * ratio, held: -A * clipped_ratio, clipped_ratio }
}

/** The ratio that a loss clips; undefined where it clips none. */
function clippedRatioOf(loss_mode: LossMode, row: ResponseTokens, t: number): number | undefined {
  if (loss_mode === 'vanilla' || loss_mode === 'cispo') return heldRatio(row, t)
  if (loss_mode === 'clip_cov') return Math.exp(logRatio(row, t))
  return loss_mode === 'gspo' ? responseRatio(row) : undefined
}

/**
 * Whether a loss's clip takes hold at a token, as its pg_clipfrac and pg_clipfrac_lower count it, dual clip before the
 * other. Of clip_cov: the clip of the ratio; its own choice over the micro-batch is the column `chosen`. Undefined for losses without a
 * clip (sapo, gpg, kl_cov, reinforce) and for tokens that do not count.
 */
export function clippedAt(
  loss_mode: LossMode,
  row: ResponseTokens,
  t: number,
  k: LossNumbers,
): Clipped | undefined {
  if (row.response_mask[t] === 0) return undefined
  const A = row.advantages[t]
  if (loss_mode === 'geo_mean') {
    const x = logRatio(row, t)
    const is_outside = x !== clamp(x, -k.clip_ratio_low, k.clip_ratio_high)
    if (!is_outside || A === 0) return 0
    return A > 0 ? 1 : 2
  }
  const ratio = clippedRatioOf(loss_mode, row, t)
  if (ratio === undefined) return undefined
  const { plain, held, clipped_ratio } = surrogates(ratio, A, k)
  if (loss_mode === 'cispo') return clipped_ratio === ratio ? 0 : 1
  if (loss_mode === 'vanilla' && A < 0 && Math.max(plain, held) > -A * k.clip_ratio_c) return 2
  return held > plain ? 1 : 0
}

/** The policy loss of one token, before weights and the mean; of geo_mean: of its response. */
export function tokenLoss(
  loss_mode: LossMode,
  row: ResponseTokens,
  t: number,
  k: LossNumbers,
): number {
  const A = row.advantages[t]
  switch (loss_mode) {
    case 'gpg':
    case 'reinforce':
      return -A * row.log_probs[t]
    case 'kl_cov': {
      const x = logRatio(row, t)
      return -A * Math.exp(x) + (isChosen(row, t) ? k.policy_loss.ppo_kl_coef * Math.abs(x) : 0)
    }
    case 'cispo':
      return -surrogates(heldRatio(row, t), A, k).clipped_ratio * A * row.log_probs[t]
    case 'sapo': {
      const tau = A > 0 ? k.tau_pos : k.tau_neg
      return (-A * (4 / tau)) / (1 + Math.exp(-tau * (heldRatio(row, t) - 1)))
    }
    case 'geo_mean': {
      const weights = row.rollout_is_weights
      const log_weight = weights ? meanOf(row, (i) => Math.log(weights[i] + 1e-10)) : 0
      const log_ratio = meanOf(row, (i) => geoLogRatio(row, i, k))
      return -meanOf(row, (i) => row.advantages[i]) * Math.exp(log_ratio + log_weight)
    }
    default: {
      if (loss_mode === 'clip_cov' && isChosen(row, t)) return 0
      const ratio = clippedRatioOf(loss_mode, row, t) ?? 1
      const { plain, held } = surrogates(ratio, A, k)
      const loss = Math.max(plain, held)
      return loss_mode === 'vanilla' && A < 0 ? Math.min(-A * k.clip_ratio_c, loss) : loss
    }
  }
}
