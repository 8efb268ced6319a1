// Computes the loss of a batch of pairs, its gradient by the policy's log-prob of every token, and
// its metrics.

import { logLogistic } from '../math/logistic.ts'
import {
  meanOf,
  rowSums,
  type ScoredAnswers,
  spread,
  tokenCounts,
  tokenWeights,
} from './answers.ts'
import { divergenceScore, type FDivergence } from './divergence.ts'
import { logOdds } from './losses/orpo.ts'
import type { Answer, Pair, PairedLoss } from './losses/preference_loss.ts'
import type { PreferenceValues } from './losses/preference_numbers.ts'

/** One of the losses that are added, with its numbers. */
export interface PairTerm {
  readonly loss: PairedLoss
  readonly weight: number
  readonly k: PreferenceValues
}

/** What a batch of pairs is trained by. The first term's score and beta are those of the
 * metrics. */
export interface PairObjective {
  readonly terms: readonly PairTerm[]
  readonly f_divergence_type: FDivergence
  readonly f_alpha_divergence_coef: number
  /** Weight of tokens beyond the length of the shorter answer (LD-DPO, arXiv 2409.06411); null:
   * 1. */
  readonly ld_alpha: number | null
  /** Pairs weigh as much as the policy would write them (WPO, arXiv 2406.11827). */
  readonly use_weighting: boolean
  /** The reference counts as 0 in the loss, though not in the rewards that are reported. */
  readonly reference_free: boolean
}

/** What an update is made of. */
export interface PreferenceUpdate {
  readonly loss: number
  /** Of each pair or answer, before the mean; cross-entropy of tokens is not in it. */
  readonly losses: Float64Array
  /** [rows, columns], 0 where masked. */
  readonly d_log_probs: Float64Array
  /** beta · log ratio of each answer; [rows]. */
  readonly rewards: Float64Array
  /** TRL's names. */
  readonly metrics: Readonly<Record<string, number>>
}

/** Which options of pairs a loss can be had with. */
export const pairOptions = (loss: PairedLoss) => ({
  f_divergence_type: loss.takesDivergence === true,
  ld_alpha: loss.score === 'ratio',
  use_weighting: loss.score === 'ratio' && !loss.nll && !loss.comparesBatch,
  reference_free: loss.mayBeReferenceFree === true,
})

/** Why a loss cannot be had with these settings, in words; undefined where it can. */
export function pairRefusal({ terms, ...rest }: PairObjective): string | undefined {
  for (const { loss, k } of terms) {
    const { name } = loss
    const can = pairOptions(loss)
    if (rest.f_divergence_type !== 'reverse_kl' && !can.f_divergence_type)
      return `f_divergence_type: expected reverse_kl with the loss ${name}, got ${rest.f_divergence_type}`
    if (rest.ld_alpha !== null && !can.ld_alpha)
      return `ld_alpha: expected none with the loss ${name}, got ${rest.ld_alpha}`
    if (rest.use_weighting && !can.use_weighting)
      return `use_weighting: expected off with the loss ${name}, which is not a sum over pairs`
    if (rest.reference_free && !can.reference_free)
      return `reference_free: expected off with the loss ${name}`
    if (!(k.beta > 0)) return `beta: expected above 0, got ${k.beta}`
    const wrong = loss.contradiction?.(k)
    if (wrong) return `${wrong.at}: expected ${wrong.expected}, got ${k[wrong.at]}`
  }
  return undefined
}

/** The update of a batch: the first half of the rows is chosen, the second half the matching
 * rejected. Throws RangeError for settings that contradict each other. */
export function pairUpdate(objective: PairObjective, answers: ScoredAnswers): PreferenceUpdate {
  const refusal = pairRefusal(objective)
  if (refusal) throw new RangeError(refusal)
  const { rows, columns } = answers
  const count = rows / 2
  const d_log_probs = new Float64Array(rows * columns)
  const losses = new Float64Array(count)
  const sums = sumsOf(objective, answers)
  const pairWeights = objective.use_weighting ? writtenWeights(answers) : undefined
  let loss = 0
  let nll_loss: number | undefined
  for (const { loss: rule, weight, k } of objective.terms) {
    const scored = scoresOf(objective, rule, k, sums)
    const pairs = Array.from(
      { length: count },
      (_, i): Pair => ({
        chosen: scored.answers[i],
        rejected: scored.answers[i + count],
      }),
    )
    const slopes = new Float64Array(rows)
    rule.rule(pairs, k).forEach((found, i) => {
      const w = weight * (pairWeights?.[i] ?? 1)
      losses[i] += w * found.loss
      slopes[i] = (w * found.d_chosen * scored.slopes[i]) / count
      slopes[i + count] = (w * found.d_rejected * scored.slopes[i + count]) / count
    })
    spread(d_log_probs, slopes, sums.weights, columns)
    const nll = rule.nll?.(k)
    if (!nll) continue
    const found = chosenNll(answers, nll.over)
    if (nll.weight !== 0) loss += weight * nll.weight * found.loss
    for (let i = 0; i < found.d_log_probs.length; i++)
      d_log_probs[i] += weight * nll.weight * found.d_log_probs[i]
    if (rule.score !== 'ratio' && nll.weight !== 0) nll_loss = found.loss
  }
  loss += meanOf(losses) ?? 0
  const [{ loss: rule, k }] = objective.terms
  const scored = scoresOf(objective, rule, k, sums)
  const rewards = rewardsOf(rule, k, sums, scored)
  const metrics = {
    ...pairMetrics(rewards, scored.log_probs),
    ...(nll_loss !== undefined && { nll_loss }),
    ...(rule.name === 'orpo' && oddsMetrics(scored.scores)),
  }
  return { loss, losses, d_log_probs, rewards, metrics }
}

interface Sums {
  readonly weights: Float64Array
  readonly counts: Float64Array
  readonly policy: Float64Array
  readonly reference: Float64Array
}

function sumsOf({ ld_alpha }: PairObjective, answers: ScoredAnswers): Sums {
  const { columns, log_probs, ref_log_probs } = answers
  const weights = tokenWeights(answers, ld_alpha)
  return {
    weights,
    counts: tokenCounts(answers),
    policy: rowSums(log_probs, weights, columns),
    reference: ref_log_probs
      ? rowSums(ref_log_probs, weights, columns)
      : new Float64Array(answers.rows),
  }
}

/** The score of every answer and its derivative by the sum of the policy's log-probs. */
function scoresOf(
  objective: PairObjective,
  rule: PairedLoss,
  k: PreferenceValues,
  { counts, policy, reference }: Sums,
) {
  const found = Array.from(policy, (logProb, b) => {
    if (rule.score === 'ratio') {
      const r = logProb - (objective.reference_free ? 0 : reference[b])
      return divergenceScore(objective.f_divergence_type, r, objective.f_alpha_divergence_coef)
    }
    const divisor = rule.score === 'mean' ? Math.max(1, counts[b]) : 1
    const shaped = shapedReward(logProb / divisor, rule.numbers.includes('alpha') ? k.alpha : 0)
    return { score: shaped.score, slope: shaped.slope / divisor }
  })
  return {
    scores: Float64Array.from(found, ({ score }) => score),
    /** As they are reported: sums, or means where the loss compares means. */
    log_probs: policy.map((p, b) => (rule.score === 'mean' ? p / Math.max(1, counts[b]) : p)),
    slopes: Float64Array.from(found, ({ slope }) => slope),
    answers: found.map(
      ({ score }, b): Answer => ({
        score,
        log_prob: policy[b],
        ref_log_prob: reference[b],
        tokens: counts[b],
      }),
    ),
  }
}

/** AlphaPO: (1 − exp(−alpha p))/alpha; p itself for alpha 0. */
const shapedReward = (p: number, alpha: number) =>
  alpha === 0
    ? { score: p, slope: 1 }
    : { score: -Math.expm1(-alpha * p) / alpha, slope: Math.exp(-alpha * p) }

/** Whatever the loss makes of log ratios, rewards are beta times the plain ones; without a
 * reference beta times the scores. */
const rewardsOf = (
  { score }: PairedLoss,
  { beta }: PreferenceValues,
  { policy, reference }: Sums,
  { scores }: { readonly scores: Float64Array },
): Float64Array =>
  score === 'ratio' ? policy.map((p, b) => beta * (p - reference[b])) : scores.map((s) => beta * s)

const halves = (values: Float64Array) => {
  const count = values.length / 2
  return { chosen: values.subarray(0, count), rejected: values.subarray(count) }
}

function pairMetrics(rewards: Float64Array, log_probs: Float64Array): Record<string, number> {
  const reward = halves(rewards)
  const logps = halves(log_probs)
  const margins = reward.chosen.map((x, i) => x - reward.rejected[i])
  const mean = (values: Float64Array) => meanOf(values) ?? 0
  return {
    'rewards/chosen': mean(reward.chosen),
    'rewards/rejected': mean(reward.rejected),
    'rewards/accuracies': mean(margins.map((margin) => (margin > 0 ? 1 : 0))),
    'rewards/margins': mean(margins),
    'logps/chosen': mean(logps.chosen),
    'logps/rejected': mean(logps.rejected),
  }
}

/** ORPO's own. */
function oddsMetrics(scores: Float64Array): Record<string, number> {
  const { chosen, rejected } = halves(scores)
  const logOddsRatio = chosen.map((p, i) => logOdds(p) - logOdds(rejected[i]))
  return {
    log_odds_ratio: meanOf(logOddsRatio.map(logLogistic)) ?? 0,
    log_odds_chosen: meanOf(logOddsRatio) ?? 0,
  }
}

/** Cross-entropy of the chosen rows, over all their tokens together; of the completions where the
 * prompts have no log-probs. */
function chosenNll(answers: ScoredAnswers, over: 'completion' | 'sequence') {
  const { rows, columns, log_probs, completion_mask, sequence_mask } = answers
  const mask = over === 'completion' ? completion_mask : (sequence_mask ?? completion_mask)
  const d_log_probs = new Float64Array((rows / 2) * columns)
  let tokens = 0
  let sum = 0
  for (let i = 0; i < d_log_probs.length; i++) {
    if (!mask[i]) continue
    tokens++
    sum += log_probs[i]
  }
  if (tokens === 0) return { loss: 0, d_log_probs }
  for (let i = 0; i < d_log_probs.length; i++) if (mask[i]) d_log_probs[i] = -1 / tokens
  return { loss: -sum / tokens, d_log_probs }
}

/** w_c · w_r of each pair, w = exp(mean over its tokens of log p − log Σ p²): a constant to the
 * gradient. */
function writtenWeights(answers: ScoredAnswers): Float64Array {
  const { rows, columns, log_probs, completion_mask, sum_p_squared } = answers
  if (!sum_p_squared)
    throw new RangeError('use_weighting: expected the sums of squared probabilities')
  const ones = Float64Array.from(completion_mask, (m) => (m ? 1 : 0))
  const differences = ones.map((m, i) => (m ? log_probs[i] - Math.log(sum_p_squared[i]) : 0))
  const counts = tokenCounts(answers)
  const means = rowSums(differences, ones, columns).map((sum, b) => sum / Math.max(1, counts[b]))
  return Float64Array.from({ length: rows / 2 }, (_, i) => Math.exp(means[i] + means[i + rows / 2]))
}
