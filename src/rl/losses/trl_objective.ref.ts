// Computes TRL's GRPO objective in float64: every loss type and option of
// GRPOTrainer._compute_loss, with gradients written by hand.
import { isHighEntropy, isOnPolicyRow } from './trl_masks.ref.ts'
import { type TokenTerm, type TrlRatio, termOf, trlMetrics } from './trl_terms.ref.ts'

export const TRL_LOSS_TYPES = [
  'grpo',
  'bnpo',
  'dr_grpo',
  'dapo',
  'luspo',
  'cispo',
  'sapo',
  'vespo',
] as const
export type TrlLossType =
  | 'grpo'
  | 'bnpo'
  | 'dr_grpo'
  | 'dapo'
  | 'luspo'
  | 'cispo'
  | 'sapo'
  | 'vespo'

/** GRPOConfig's names. */
export interface TrlLossConfig {
  readonly loss_type: TrlLossType
  readonly importance_sampling_level: 'token' | 'sequence'
  readonly epsilon_low: number
  readonly epsilon_high: number
  readonly delta: number | undefined
  readonly beta: number
  readonly use_bias_correction_kl: boolean
  readonly top_entropy_quantile: number
  readonly off_policy_mask_threshold: number | undefined
  readonly entropy_coef: number
  readonly gradient_accumulation_steps: number
  readonly steps_per_generation: number
  readonly max_completion_length: number
  /** Required by dapo, cispo and vespo. */
  readonly num_items_in_batch: number | undefined
  readonly vespo_k_pos: number
  readonly vespo_lambda_pos: number
  readonly vespo_k_neg: number
  readonly vespo_lambda_neg: number
  readonly sapo_temperature_neg: number
  readonly sapo_temperature_pos: number
}

/** B rows of T columns; [B, T] unless said otherwise. */
export interface TrlLossBatch {
  readonly rows: number
  readonly columns: number
  readonly per_token_logps: ArrayLike<number>
  /** Absent: the log-probs of the policy as it is. */
  readonly old_per_token_logps: ArrayLike<number> | undefined
  readonly sampling_per_token_logps: ArrayLike<number> | undefined
  readonly ref_per_token_logps: ArrayLike<number> | undefined
  /** [B] */
  readonly advantages: ArrayLike<number>
  /** completion_mask, times tool_mask where there is one. */
  readonly mask: ArrayLike<number>
  readonly entropies: ArrayLike<number>
  /** [B, T], or [B] for one per row. */
  readonly importance_sampling_ratio: ArrayLike<number> | undefined
}

export interface TrlLoss {
  readonly loss: number
  readonly d_logps: Float64Array
  readonly d_entropies: Float64Array
  readonly metrics: Record<string, number>
  /** Over the tokens that the bonus is about. */
  readonly entropy_sum: number
  readonly entropyTokens: number
}

const sum = (x: ArrayLike<number>): number => {
  let total = 0
  for (let i = 0; i < x.length; i++) total += x[i]
  return total
}

/** n_i of every row. */
const rowTokens = ({ rows, columns, mask }: TrlLossBatch): number[] =>
  Array.from({ length: rows }, (_, b) =>
    sum(Array.from({ length: columns }, (_, t) => mask[b * columns + t])),
  )

/** log w: of a token, or the mean over the tokens of its row. */
function ratioOf(batch: TrlLossBatch, level: 'token' | 'sequence'): TrlRatio {
  const { rows, columns, per_token_logps, old_per_token_logps, mask } = batch
  const log_ratio = Float64Array.from(per_token_logps, (x, i) =>
    old_per_token_logps ? x - old_per_token_logps[i] : 0,
  )
  const tokens = rowTokens(batch)
  if (level === 'token') return { log_ratio, logW: log_ratio, tokens, level }
  const means = Array.from({ length: rows }, (_, b) => {
    let total = 0
    for (let t = 0; t < columns; t++) total += log_ratio[b * columns + t] * mask[b * columns + t]
    return total / Math.max(tokens[b], 1)
  })
  const logW = log_ratio.map((_, i) => means[Math.floor(i / columns)])
  return { log_ratio, logW, tokens, level }
}

/** Weight of every token's term in the loss; throws RangeError where the count that it divides by
 * is missing. */
function weightsOf(config: TrlLossConfig, batch: TrlLossBatch, tokens: readonly number[]) {
  const { loss_type, gradient_accumulation_steps: ga } = config
  const { rows, columns, mask } = batch
  const all = sum(tokens)
  const scale = (b: number): number => {
    if (loss_type === 'grpo' || loss_type === 'sapo')
      return 1 / (Math.max(tokens[b], 1) * rows * ga)
    if (loss_type === 'bnpo') return 1 / (Math.max(all, 1) * ga)
    if (loss_type === 'dr_grpo') return 1 / (rows * config.max_completion_length * ga)
    if (loss_type === 'luspo') return 1 / (rows * ga)
    if (config.num_items_in_batch === undefined)
      throw new RangeError(`num_items_in_batch: ${loss_type} divides by it, and it is missing`)
    return 1 / ((config.num_items_in_batch * ga) / config.steps_per_generation)
  }
  return Float64Array.from(mask, (m, i) => m * scale(Math.floor(i / columns)))
}

/** The policy's term of a token with what masks and correction make of it, and KL behind that. */
function maskedTerms(config: TrlLossConfig, batch: TrlLossBatch, ratio: TrlRatio): TokenTerm[] {
  const { columns, importance_sampling_ratio: is } = batch
  const kept = isHighEntropy(config, batch)
  const onPolicy = isOnPolicyRow(config, batch, ratio.tokens)
  const perRow = is && is.length === batch.rows
  return Array.from({ length: batch.mask.length }, (_, i) => {
    const b = Math.floor(i / columns)
    const term = termOf(config, batch, ratio, i)
    let factor = onPolicy(b) && kept[i] ? 1 : 0
    if (is && config.loss_type !== 'vespo') factor *= is[perRow ? b : i]
    const kl = klOf(config, batch, ratio, i)
    const { beta } = config
    return {
      value: factor * term.value + beta * kl.value,
      d_own: factor * term.d_own + beta * kl.d_own,
      d_log_w: factor * term.d_log_w + beta * kl.d_log_w,
      kl: kl.value,
    }
  })
}

/** k3 to the reference; times the ratio, with its gradient, where `use_bias_correction_kl`. */
function klOf(config: TrlLossConfig, batch: TrlLossBatch, { logW }: TrlRatio, i: number) {
  if (config.beta === 0) return { value: 0, d_own: 0, d_log_w: 0 }
  if (!batch.ref_per_token_logps)
    throw new RangeError('ref_per_token_logps: beta is not 0, and they are missing')
  const d = batch.ref_per_token_logps[i] - batch.per_token_logps[i]
  const value = Math.exp(d) - d - 1
  const w = config.use_bias_correction_kl ? Math.exp(logW[i]) : 1
  const d_log_w = config.use_bias_correction_kl ? value * w : 0
  return { value: value * w, d_own: (1 - Math.exp(d)) * w, d_log_w }
}

/** Loss, gradients and TRL's metrics of one micro-batch. */
export function trlLossRef(config: TrlLossConfig, batch: TrlLossBatch): TrlLoss {
  const { columns, mask, entropies } = batch
  const ratio = ratioOf(batch, config.importance_sampling_level)
  const weights = weightsOf(config, batch, ratio.tokens)
  const terms = maskedTerms(config, batch, ratio)
  const d_logps = new Float64Array(mask.length)
  /** Σ_t of what the row's ratio moves, for a ratio of the whole row. */
  const dRow = new Float64Array(batch.rows)
  let policyLoss = 0
  for (const [i, { value, d_own, d_log_w }] of terms.entries()) {
    if (mask[i] === 0) continue
    policyLoss += weights[i] * value
    d_logps[i] += weights[i] * d_own
    if (ratio.level === 'token') d_logps[i] += weights[i] * d_log_w
    else dRow[Math.floor(i / columns)] += weights[i] * d_log_w
  }
  if (ratio.level === 'sequence')
    for (let i = 0; i < mask.length; i++) {
      const b = Math.floor(i / columns)
      d_logps[i] += (dRow[b] * mask[i]) / Math.max(ratio.tokens[b], 1)
    }
  const kept = isHighEntropy(config, batch)
  const effective = Array.from(mask, (m, i) => (kept[i] ? m : 0))
  const entropyTokens = sum(effective)
  const entropy_sum = sum(effective.map((m, i) => m * entropies[i]))
  const share = 1 / (Math.max(entropyTokens, 1) * config.gradient_accumulation_steps)
  const bonus = config.entropy_coef * share
  return {
    loss: policyLoss - bonus * entropy_sum,
    d_logps,
    d_entropies: Float64Array.from(effective, (m) => -bonus * m),
    metrics: trlMetrics(config, batch, ratio, terms, policyLoss),
    entropy_sum,
    entropyTokens,
  }
}
