// Computes the generalized Jensen–Shannon divergence of a student S from a teacher T: forward KL at
// beta 0, reverse KL at beta 1.
import {
  type DistributionLoss,
  distributionLoss,
  type Logits,
  logProbsOf,
  type Numbers,
  type TokenLoss,
} from './distribution.ref.ts'

export const JSD_REDUCTIONS = ['batchmean', 'sum', 'mean'] as const

/** What the sum over tokens is divided by. */
export interface JsdReduction {
  readonly reduction: (typeof JSD_REDUCTIONS)[number]
  /** Tokens of the whole update; where it is given nothing else counts. */
  readonly num_items_in_batch: number | undefined
}

/** beta 0: Σ T (log T - log S). beta 1: Σ S (log S - log T). Else beta KL(T‖M) + (1 - beta) KL(S‖M)
 * with M = (1 - beta) S + beta T. No gradient through T (Agarwal et al., arXiv 2306.13649; TRL
 * GKDTrainer.generalized_jsd_loss). Log-probs [V]. */
export function jsdToken(student: Numbers, teacher: Numbers, beta: number): TokenLoss {
  if (beta !== 0 && beta !== 1) return mixtureToken(student, teacher, beta)
  const d_log_probs = new Float64Array(student.length)
  let loss = 0
  for (let v = 0; v < student.length; v++) {
    const [s, t] = [student[v], teacher[v]]
    const [S, T] = [Math.exp(s), Math.exp(t)]
    if (beta === 0) {
      if (T > 0) loss += T * (t - s)
      d_log_probs[v] = -T
    } else if (S > 0) {
      loss += S * (s - t)
      d_log_probs[v] = S * (s - t) + S
    }
  }
  return { loss, d_log_probs }
}

/** beta KL(T‖M) + (1 - beta) KL(S‖M), M = (1 - beta) S + beta T, and its gradient by the student's
 * log-probs. */
export function mixtureToken(student: Numbers, teacher: Numbers, beta: number): TokenLoss {
  const d_log_probs = new Float64Array(student.length)
  let loss = 0
  for (let v = 0; v < student.length; v++) {
    const [s, t] = [student[v], teacher[v]]
    const [S, T] = [Math.exp(s), Math.exp(t)]
    const M = (1 - beta) * S + beta * T
    if (M === 0) continue
    const m = Math.log(M)
    if (T > 0) loss += beta * T * (t - m)
    if (S === 0) continue
    loss += (1 - beta) * S * (s - m)
    // What M itself contributes, -M · (1 - beta) S / M, takes the 1 of s - m + 1 away again.
    d_log_probs[v] = (1 - beta) * S * (s - m)
  }
  return { loss, d_log_probs }
}

/** Weight of every token. Without a mask `batchmean` divides by rows, as torch's does. */
export function reductionWeights(
  mask: Numbers | undefined,
  shape: { readonly rows: number; readonly columns: number; readonly vocabulary: number },
  { reduction, num_items_in_batch }: JsdReduction,
): Float64Array {
  const tokens = shape.rows * shape.columns
  const counted = mask ?? new Float64Array(tokens).fill(1)
  const count = Array.from(counted).reduce((sum, m) => sum + m, 0)
  const divisor =
    num_items_in_batch !== undefined
      ? num_items_in_batch
      : reduction === 'sum'
        ? 1
        : reduction === 'mean'
          ? count * shape.vocabulary
          : mask
            ? count
            : shape.rows
  return Float64Array.from(counted, (m) => m / divisor)
}

/** The divergence over a batch of tokens with these weights. */
export function jsdLoss(
  student: Logits,
  teacher: Logits,
  weights: Numbers,
  { beta, temperature }: { readonly beta: number; readonly temperature: number },
): DistributionLoss {
  return distributionLoss(student, weights, temperature, (i, logProbs) =>
    jsdToken(logProbs, logProbsOf(teacher, i, temperature), beta),
  )
}
