// What one token is worth under each loss, in f64; formulas in policy_loss.ts.
import type { LossMode } from './loss_modes.ts'

/** One token's loss, its derivative by log_prob, and what it adds to the metrics. */
export interface TokenLoss {
  readonly loss: number
  readonly slope: number
  readonly kl: number
  readonly clipped: boolean
  readonly clipped_lower: boolean
}
export interface Coefficients {
  readonly low: number
  readonly high: number
  readonly c: number
  readonly tau_pos: number
  readonly tau_neg: number
}
export type TokenRule = (
  log_prob: number,
  old_log_prob: number,
  A: number,
  k: Coefficients,
) => TokenLoss

export const clamp = (x: number, min: number, max: number) => Math.min(max, Math.max(min, x))
export const UNCLIPPED = { clipped: false, clipped_lower: false }

const vanilla: TokenRule = (log_prob, old_log_prob, A, { low, high, c }) => {
  const log_ratio = log_prob - old_log_prob
  const x = clamp(log_ratio, -20, 20)
  const l1 = -A * Math.exp(x)
  const l2 = -A * clamp(Math.exp(x), 1 - low, 1 + high)
  const M = Math.max(l1, l2)
  const clipped = l2 > l1
  const clipped_lower = A < 0 && M > -A * c
  const slope = clipped || clipped_lower || Math.abs(log_ratio) > 20 ? 0 : l1
  return { loss: clipped_lower ? -A * c : M, slope, kl: -x, clipped, clipped_lower }
}

const sapo: TokenRule = (log_prob, old_log_prob, A, { tau_pos, tau_neg }) => {
  const log_ratio = log_prob - old_log_prob
  const x = clamp(log_ratio, -20, 20)
  const tau = A > 0 ? tau_pos : tau_neg
  const z = tau * (Math.exp(x) - 1)
  const gate = 1 / (1 + Math.exp(-z))
  const slope = -4 * A * gate * (1 - gate) * Math.exp(x)
  const loss = (-A * gate * 4) / tau
  return { loss, slope: Math.abs(log_ratio) > 20 ? 0 : slope, kl: -x, ...UNCLIPPED }
}

const cispo: TokenRule = (log_prob, old_log_prob, A, { low, high }) => {
  const x = clamp(log_prob - old_log_prob, -20, 20)
  const weight = clamp(Math.exp(x), 1 - low, 1 + high)
  const clipped = weight !== Math.exp(x)
  return { loss: -weight * A * log_prob, slope: -weight * A, ...UNCLIPPED, kl: -x, clipped }
}

/** gpg and reinforce differ in what they report only. */
const plainGradient: TokenRule = (log_prob, old_log_prob, A) => ({
  loss: -A * log_prob,
  slope: -A,
  kl: old_log_prob - log_prob,
  ...UNCLIPPED,
})

/** The losses that look at one token at a time. */
export const TOKEN_RULES = {
  vanilla,
  sapo,
  cispo,
  gpg: plainGradient,
  reinforce: plainGradient,
} as const satisfies Partial<Record<LossMode, TokenRule>>
