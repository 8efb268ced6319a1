// Computes the generalized JSD on the likeliest tokens alone: the teacher's at beta 0, the
// student's at beta 1, else those of both.
import {
  type DistributionLoss,
  distributionLoss,
  type Logits,
  logProbsOf,
  type Numbers,
  type TokenLoss,
} from './distribution.ref.ts'
import { jsdToken } from './jsd.ref.ts'

export interface TopkJsd {
  readonly beta: number
  readonly temperature: number
  readonly top_k: number
  /** One more bucket with the rest of the mass; else both are renormalised on the support. */
  readonly add_tail: boolean
}

/** The ids of the k largest, the first of equal ones. */
export const topIds = (values: Numbers, k: number): number[] =>
  Array.from(values, (_, v) => v)
    .sort((a, b) => values[b] - values[a] || a - b)
    .slice(0, k)

function supportOf(student: Numbers, teacher: Numbers, { beta, top_k }: TopkJsd): number[] {
  if (beta === 0) return topIds(teacher, top_k)
  if (beta === 1) return topIds(student, top_k)
  return [...new Set([...topIds(teacher, top_k), ...topIds(student, top_k)])]
}

const logSum = (values: readonly number[]): number => {
  const top = Math.max(...values)
  return top + Math.log(values.reduce((sum, x) => sum + Math.exp(x - top), 0))
}

/** log(1 - Σ p). */
const logTail = (values: readonly number[]): number => Math.log(-Math.expm1(logSum(values)))

/** What a distribution is on a support: with its tail as the last bucket, or renormalised. */
const restricted = (logProbs: Numbers, support: readonly number[], addTail: boolean) => {
  const kept = support.map((v) => logProbs[v])
  if (addTail) return [...kept, logTail(kept)]
  const total = logSum(kept)
  return kept.map((x) => x - total)
}

/** Gradient flows through the tail and the normaliser, not through the choice of tokens. */
function topkToken(student: Float64Array, teacher: Float64Array, config: TopkJsd): TokenLoss {
  const V = student.length
  if (config.top_k >= V) return jsdToken(student, teacher, config.beta)
  const support = supportOf(student, teacher, config)
  const isWhole = support.length === V
  const addTail = config.add_tail && !isWhole
  const s = restricted(student, support, addTail)
  const { loss, d_log_probs } = jsdToken(s, restricted(teacher, support, addTail), config.beta)
  const d = new Float64Array(V)
  const total = d_log_probs.reduce((sum, g) => sum + g, 0)
  const ofTail = addTail ? d_log_probs[support.length] / Math.exp(s[support.length]) : 0
  for (const [j, v] of support.entries())
    d[v] = addTail
      ? d_log_probs[j] - ofTail * Math.exp(student[v])
      : d_log_probs[j] - Math.exp(s[j]) * total
  return { loss, d_log_probs: d }
}

/** The divergence over a batch of tokens with these weights (TRL
 * IWOPDTrainer.generalized_jsd_loss). */
export function jsdTopkLoss(
  student: Logits,
  teacher: Logits,
  weights: Numbers,
  config: TopkJsd,
): DistributionLoss {
  const { temperature } = config
  return distributionLoss(student, weights, temperature, (i, logProbs) =>
    topkToken(logProbs, logProbsOf(teacher, i, temperature), config),
  )
}
