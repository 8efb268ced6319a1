// Computes importance-weighted on-policy distillation: sampled tokens, weighted by how far the
// prefix has drifted from the teacher.
import {
  type DistributionLoss,
  distributionLoss,
  type Logits,
  logProbsOf,
  type Numbers,
  tokenMean,
} from './distribution.ref.ts'

export interface IwOpd {
  readonly gamma: number
  readonly epsilon: number
  readonly temperature: number
  readonly num_items_in_batch: number | undefined
}

/** [B, T] each. */
export interface IwOpdBatch {
  readonly columns: number
  readonly tokens: Numbers
  readonly mask: Numbers
  readonly teacher_logps: Numbers
  /** Of the policy that sampled; absent: the student as it is. */
  readonly rollout_logps: Numbers | undefined
}

/** a_t = (log T - log rollout)(y_t) m; w_t = 1 + gamma (1 - share of Σ |a| before t). */
function weighted(
  student: Logits,
  batch: IwOpdBatch,
  { gamma, epsilon, temperature }: IwOpd,
): { advantages: Float64Array; weights: Float64Array } {
  const { columns, tokens, mask, teacher_logps, rollout_logps } = batch
  const own = (i: number) => logProbsOf(student, i, temperature)[tokens[i]]
  const advantages = Float64Array.from(mask, (m, i) =>
    m === 0 ? 0 : (teacher_logps[i] - (rollout_logps?.[i] ?? own(i))) * m,
  )
  const weights = new Float64Array(mask.length)
  for (let first = 0; first < mask.length; first += columns) {
    const row = advantages.subarray(first, first + columns)
    const total = Math.max(
      row.reduce((sum, a) => sum + Math.abs(a), 0),
      epsilon,
    )
    let before = 0
    for (const [t, a] of row.entries()) {
      weights[first + t] = 1 + gamma * (1 - before / total)
      before += Math.abs(a)
    }
  }
  return { advantages, weights }
}

/** -Σ w a log S(y) / N, w and a held constant (TRL IWOPDTrainer._compute_iw_opd_loss). */
export function iwOpdLoss(
  student: Logits,
  batch: IwOpdBatch,
  config: IwOpd,
): DistributionLoss & { metrics: Record<string, number> } {
  const { mask, tokens } = batch
  const { advantages, weights } = weighted(student, batch, config)
  const count = Array.from(mask).reduce((sum, m) => sum + m, 0)
  const divisor = config.num_items_in_batch ?? Math.max(count, 1)
  const shares = Float64Array.from(mask, (m) => m / divisor)
  const found = distributionLoss(student, shares, config.temperature, (i, logProbs) => {
    const factor = weights[i] * advantages[i]
    const d_log_probs = new Float64Array(logProbs.length)
    d_log_probs[tokens[i]] = -factor
    return { loss: -factor * logProbs[tokens[i]], d_log_probs }
  })
  const counted = Array.from(weights).filter((_, i) => mask[i] !== 0)
  return {
    ...found,
    metrics: {
      'iw_opd/mean_advantage': tokenMean(
        advantages.map((a, i) => weights[i] * a),
        mask,
      ),
      'iw_opd/mean_abs_advantage': tokenMean(advantages.map(Math.abs), mask),
      'iw_opd/mean_weight': tokenMean(weights, mask),
      'iw_opd/min_weight': Math.min(...counted),
      'iw_opd/max_weight': Math.max(...counted),
    },
  }
}
