// Computes the loss of a batch of answers that were judged one by one, its gradient by the policy's
// log-prob of every token, and its metrics.
import {
  meanOf,
  rowSums,
  type ScoredAnswers,
  spread,
  tokenCounts,
  tokenWeights,
} from './answers.ts'
import type { UnpairedLoss } from './losses/preference_loss.ts'
import type { PreferenceValues } from './losses/preference_numbers.ts'
import type { PreferenceUpdate } from './pair_objective.ts'

/** What a batch of judged answers is trained by. */
export interface AnswerObjective {
  readonly loss: UnpairedLoss
  readonly k: PreferenceValues
}

/** max(0, mean over rows of policy − reference) of mismatched prompts and completions: what KTO
 * compares rewards with. */
export function mismatchedKl(answers: ScoredAnswers): number {
  const { columns, log_probs, ref_log_probs } = answers
  if (!ref_log_probs) throw new RangeError('KTO: expected log-probs of the reference')
  const weights = tokenWeights(answers, null)
  const reference = rowSums(ref_log_probs, weights, columns)
  const ratios = rowSums(log_probs, weights, columns).map((p, b) => p - reference[b])
  return Math.max(0, meanOf(ratios) ?? 0)
}

/** The update of a batch. `labels`: true = desirable; `kl`: see mismatchedKl, 0 for a loss without
 * one. */
export function answerUpdate(
  { loss: rule, k }: AnswerObjective,
  answers: ScoredAnswers,
  labels: readonly boolean[],
  kl: number,
): PreferenceUpdate {
  const { rows, columns, log_probs, ref_log_probs } = answers
  if (!ref_log_probs) throw new RangeError('KTO: expected log-probs of the reference')
  if (!(k.beta > 0)) throw new RangeError(`beta: expected above 0, got ${k.beta}`)
  const weights = tokenWeights(answers, null)
  const counts = tokenCounts(answers)
  const policy = rowSums(log_probs, weights, columns)
  const reference = rowSums(ref_log_probs, weights, columns)
  const found = Array.from(policy, (log_prob, b) =>
    rule.rule(
      {
        log_prob,
        ref_log_prob: reference[b],
        score: log_prob - reference[b],
        tokens: counts[b],
        is_desirable: labels[b],
        kl: rule.hasKl ? kl : 0,
      },
      k,
    ),
  )
  const d_log_probs = new Float64Array(rows * columns)
  const slopes = Float64Array.from(found, ({ d_score }) => d_score / rows)
  spread(d_log_probs, slopes, weights, columns)
  const losses = Float64Array.from(found, ({ loss }) => loss)
  const rewards = policy.map((p, b) => k.beta * (p - reference[b]))
  const metrics = { kl: rule.hasKl ? kl : 0, ...answerMetrics(rewards, policy, labels) }
  return { loss: meanOf(losses) ?? 0, losses, d_log_probs, rewards, metrics }
}

/** Means over the desirable and the undesirable rows; of rows that there are none of, nothing. */
function answerMetrics(
  rewards: Float64Array,
  policy: Float64Array,
  labels: readonly boolean[],
): Record<string, number> {
  const metrics: Record<string, number> = {}
  for (const [name, wanted] of [
    ['chosen', true],
    ['rejected', false],
  ] as const) {
    const reward = meanOf(rewards.filter((_, b) => labels[b] === wanted))
    const logps = meanOf(policy.filter((_, b) => labels[b] === wanted))
    if (reward === undefined || logps === undefined) continue
    metrics[`rewards/${name}`] = reward
    metrics[`logps/${name}`] = logps
  }
  const { 'rewards/chosen': chosen, 'rewards/rejected': rejected } = metrics
  if (chosen === undefined || rejected === undefined) return metrics
  return { ...metrics, 'rewards/margins': chosen - rejected }
}
