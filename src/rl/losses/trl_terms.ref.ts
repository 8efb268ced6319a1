// Computes one token's loss under each of TRL's loss types, and what TRL reports about a batch of
// them.
import type { TrlLossBatch, TrlLossConfig } from './trl_objective.ref.ts'

/** log-ratios to the old policy. */
export interface TrlRatio {
  /** [B, T] */
  readonly log_ratio: Float64Array
  /** [B, T]: what the loss exponentiates; the same for a whole row at level sequence. */
  readonly logW: Float64Array
  /** [B] */
  readonly tokens: readonly number[]
  readonly level: 'token' | 'sequence'
}

/** A token's loss, and its derivatives by the token's log-prob as such and by the log of its
 * ratio. */
export interface TokenTerm {
  readonly value: number
  readonly d_own: number
  readonly d_log_w: number
  readonly kl: number
}
type PolicyTerm = Omit<TokenTerm, 'kl'>

const CLIPPED = ['grpo', 'bnpo', 'dr_grpo', 'dapo', 'luspo'] as const
const isClipped = (name: string): boolean => CLIPPED.some((one) => one === name)
const clamp = (x: number, low: number, high: number) => Math.min(Math.max(x, low), high)

/** -min(w' A, clip(w) A), w' = min(w, delta). */
function clippedTerm(config: TrlLossConfig, w: number, advantage: number): PolicyTerm {
  const { epsilon_low, epsilon_high, delta = Number.POSITIVE_INFINITY } = config
  const low = 1 - epsilon_low
  const high = 1 + epsilon_high
  const plain = Math.min(w, delta) * advantage
  const clipped = clamp(w, low, high) * advantage
  const slope = advantage * w
  const ofPlain = w <= delta ? slope : 0
  const ofClipped = w >= low && w <= high ? slope : 0
  // torch.min gives each of two equal numbers half the gradient.
  const d = plain === clipped ? (ofPlain + ofClipped) / 2 : plain < clipped ? ofPlain : ofClipped
  return { value: -Math.min(plain, clipped), d_own: 0, d_log_w: -d }
}

/** -(4/t) σ(t (w - 1)) A; TRL's temperatures are float32. */
function sapoTerm(config: TrlLossConfig, w: number, advantage: number): PolicyTerm {
  const { sapo_temperature_pos, sapo_temperature_neg } = config
  const t = Math.fround(advantage > 0 ? sapo_temperature_pos : sapo_temperature_neg)
  const s = 1 / (1 + Math.exp(-t * (w - 1)))
  return { value: (-4 / t) * s * advantage, d_own: 0, d_log_w: -4 * s * (1 - s) * w * advantage }
}

const LEAST_LOG = Math.log(1e-8)
const MOST_LOG = 20

/** VESPO's weight of row b: exp(λ + k q - λ e^q) of its whole log-ratio q. No gradient. */
function vespoWeight(
  config: TrlLossConfig,
  batch: TrlLossBatch,
  { log_ratio }: TrlRatio,
  b: number,
): number {
  const { columns, mask, rows, importance_sampling_ratio: is } = batch
  const logIs = (i: number) => clamp(Math.log((is as ArrayLike<number>)[i]), LEAST_LOG, MOST_LOG)
  let q = is && is.length === rows ? logIs(b) : 0
  for (let i = b * columns; i < (b + 1) * columns; i++) {
    q += clamp(log_ratio[i], -MOST_LOG, MOST_LOG) * mask[i]
    if (is && is.length !== rows) q += logIs(i)
  }
  q = clamp(q, LEAST_LOG, MOST_LOG)
  const isPositive = batch.advantages[b] >= 0
  const k = isPositive ? config.vespo_k_pos : config.vespo_k_neg
  const lambda = isPositive ? config.vespo_lambda_pos : config.vespo_lambda_neg
  return Math.exp(lambda + k * q - lambda * Math.exp(q))
}

/** The policy's part of token i. */
export function termOf(
  config: TrlLossConfig,
  batch: TrlLossBatch,
  ratio: TrlRatio,
  i: number,
): PolicyTerm {
  const b = Math.floor(i / batch.columns)
  const advantage = batch.advantages[b]
  const w = Math.exp(ratio.logW[i])
  if (isClipped(config.loss_type)) return clippedTerm(config, w, advantage)
  if (config.loss_type === 'sapo') return sapoTerm(config, w, advantage)
  const weight =
    config.loss_type === 'cispo'
      ? Math.min(w, config.epsilon_high)
      : vespoWeight(config, batch, ratio, b)
  const d_own = -weight * advantage
  return { value: d_own * batch.per_token_logps[i], d_own, d_log_w: 0 }
}

/** TRL's metrics. Numbers of whole rows are means over rows. */
export function trlMetrics(
  config: TrlLossConfig,
  batch: TrlLossBatch,
  ratio: TrlRatio,
  terms: readonly TokenTerm[],
  policyLoss: number,
): Record<string, number> {
  const { rows, columns, mask, entropies, advantages } = batch
  const { loss_type, epsilon_low, epsilon_high } = config
  /** One column is taken for one number per row, in TRL too. */
  const isPerRow = (byRow: boolean) => byRow || columns === 1
  const mean = (of: (i: number) => number, byRow = false): number => {
    let total = 0
    let count = 0
    const step = byRow ? columns : 1
    for (let i = 0; i < mask.length; i += step) {
      const weight = isPerRow(byRow) ? 1 : mask[i]
      total += weight * of(i)
      count += weight
    }
    return total / Math.max(count, 1)
  }
  const metrics: Record<string, number> = { entropy: mean((i) => entropies[i]) }
  if (config.entropy_coef !== 0) {
    metrics.policy_loss = policyLoss * policyScale(config)
    metrics.entropy_coef = config.entropy_coef
  }
  if (config.beta !== 0) metrics.kl = mean((i) => terms[i].kl)
  const byRow = ratio.level === 'sequence'
  const at = (i: number) => advantages[Math.floor(i / columns)]
  const w = (i: number) => Math.exp(ratio.logW[i])
  if (loss_type === 'cispo')
    metrics.cispo_clip_ratio = mean((i) => Number(w(i) > epsilon_high && at(i) > 0), byRow)
  else if (loss_type === 'vespo') {
    const of = (i: number) => vespoWeight(config, batch, ratio, Math.floor(i / columns))
    metrics['vespo/phi_seq_mean'] = mean(of, true)
  } else if (isClipped(loss_type)) {
    const seen = (i: number) => Math.min(w(i), config.delta ?? Number.POSITIVE_INFINITY)
    const low = (i: number) => Number(seen(i) < 1 - epsilon_low && at(i) < 0)
    const high = (i: number) => Number(seen(i) > 1 + epsilon_high && at(i) > 0)
    const ofRows = (of: (i: number) => number): number[] =>
      ratio.tokens.flatMap((tokens, b) => {
        if (isPerRow(byRow)) return [of(b * columns)]
        let total = 0
        for (let i = b * columns; i < (b + 1) * columns; i++) total += of(i) * mask[i]
        return tokens > 0 ? [total / tokens] : []
      })
    metrics['clip_ratio/low_mean'] = mean(low, byRow)
    metrics['clip_ratio/high_mean'] = mean(high, byRow)
    metrics['clip_ratio/region_mean'] = mean((i) => low(i) + high(i), byRow)
    metrics['clip_ratio/low_min'] = rows > 0 ? Math.min(...ofRows(low)) : 0
    metrics['clip_ratio/high_max'] = rows > 0 ? Math.max(...ofRows(high)) : 0
  }
  return metrics
}

/** TRL reports the policy's loss before it is divided by the micro-batches, except where it divides
 * by a count of tokens. */
const policyScale = ({ loss_type, gradient_accumulation_steps }: TrlLossConfig): number =>
  ['dapo', 'cispo', 'vespo'].includes(loss_type) ? 1 : gradient_accumulation_steps
