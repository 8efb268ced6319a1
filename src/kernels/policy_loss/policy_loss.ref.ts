// The objectives in f64.

type Numbers = ArrayLike<number>

/** Coefficients, named as in the kernel. */
export interface VanillaCoefficients {
  readonly clip_ratio_low: number
  readonly clip_ratio_high: number
  readonly clip_ratio_c: number
  readonly inv_token_count: number
  readonly entropy_coeff: number
}

/** One value per token, all [tokens]. */
export interface PolicyLossBatch {
  readonly log_probs: Numbers
  readonly old_log_probs: Numbers
  readonly advantages: Numbers
  readonly response_mask: Numbers
  readonly entropy: Numbers
}

/** Gradients [tokens] and sums in the order of POLICY_LOSS_SUMS. */
export function policy_loss_vanilla_ref(
  k: VanillaCoefficients,
  batch: PolicyLossBatch,
): { d_log_probs: Float64Array; d_entropy: Float64Array; sums: Float64Array } {
  const tokens = batch.log_probs.length
  const d_log_probs = new Float64Array(tokens)
  const d_entropy = new Float64Array(tokens)
  const sums = new Float64Array(5)
  for (let i = 0; i < tokens; i++) {
    const weight = batch.response_mask[i] * k.inv_token_count
    if (weight === 0) continue
    const A = batch.advantages[i]
    const log_ratio = batch.log_probs[i] - batch.old_log_probs[i]
    const x = Math.min(20, Math.max(-20, log_ratio))
    const r = Math.exp(x)
    const l1 = -A * r
    const l2 = -A * Math.min(1 + k.clip_ratio_high, Math.max(1 - k.clip_ratio_low, r))
    const M = Math.max(l1, l2)
    const is_lower = A < 0 && M > -A * k.clip_ratio_c
    sums[0] += weight * (is_lower ? -A * k.clip_ratio_c : M)
    sums[1] -= weight * x
    if (l2 > l1) sums[2] += weight
    if (is_lower) sums[3] += weight
    sums[4] += weight * batch.entropy[i]
    if (l1 >= l2 && !is_lower && Math.abs(log_ratio) <= 20) d_log_probs[i] = weight * l1
    d_entropy[i] = -weight * k.entropy_coeff
  }
  return { d_log_probs, d_entropy, sums }
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
