// Computes one step of reinforcement in float64, from the batch that a trainer sampled: every
// number it reports, and the weights it leaves behind. Estimators and what verl's driver reports
// are float64 already and held to verl's own numbers elsewhere; what is computed on the GPU is
// computed here by its references.
import { klLossRef } from '../../kernels/kl/kl.ref.ts'
import { rolloutCorrectionRef } from '../../kernels/rollout_correction/rollout_correction.ref.ts'
import type { ModelConfig } from '../../model/layout/config.ts'
import type { RefArrays } from '../../model/transformer/operations.ref.ts'
import { logitsRef, policyRef, statesOf } from '../../model/transformer/policy.ref.ts'
import type { RefCache } from '../../model/transformer/transformer.ref.ts'
import { readSpan, valuesRef } from '../../model/transformer/value.ref.ts'
import { computeAdvantages } from '../estimators/advantages.ts'
import type { RolloutBatch } from '../experience/batch.ts'
import {
  correctionParams,
  offpolicyMetrics,
  rolloutIsWeights,
  rolloutRejectionMask,
} from '../experience/rollout_correction.ts'
import { innerOldRef, type RefPhase } from '../learners/inner.ref.ts'
import type { RowOrder } from '../math/shuffle.ts'
import { computeDataMetrics } from '../metrics/data_metrics.ts'
import { type Learner, mean, type Rows, rowsOf } from './learner.ref.ts'
import { updateActor, updateCritic } from './update.ref.ts'

type Numbers = ArrayLike<number>

const sumOf = (x: Float64Array): number => x.reduce((a, b) => a + b, 0)

/** The models of a run, and what its driver remembers. */
export interface RefRun {
  readonly config: ModelConfig
  readonly actor: Learner
  readonly critic?: Learner
  /** Another model that teaches. */
  readonly teacher?: { readonly config: ModelConfig; readonly model: Learner }
  /** Weights of the frozen reference. */
  readonly reference: Float64Array
  kl_coef: number
  /** Where the entropy bonus follows a target: its weight, and the entropy of the last step. */
  entropy_coef: number
  entropy: number
  /** The actor's weights before each step so far. */
  readonly before: Float64Array[]
  /** Log-probs of the step's batch under every inner policy that learns along, [B, R] each. */
  innerOld: readonly Float64Array[]
  /** Mini-batches of the actor so far. */
  passes: number
  /** Steps with a critic so far. */
  criticSteps: number
}

/** What a trainer sampled in one step, in the order in which it was trained on. */
export interface RecordedStep {
  readonly batch: RolloutBatch
  /** With penalties, at the last token of each response; [B, R]. */
  readonly token_level_scores: Numbers
  /** Group of each row, [B]. */
  readonly index: readonly number[]
  /** ReMax: score of the greedy response to each row's prompt, [B]. */
  readonly reward_baselines?: readonly number[]
  /** Of the policy that sampled, where that computed otherwise than in float32; [B, R]. */
  readonly rollout_log_probs?: Numbers
  /** Step of the run, from 1. */
  readonly step: number
  /** The step before which each row was sampled, where that was an earlier one; [B]. */
  readonly sampled_at?: readonly number[]
  /** Of the rows in each epoch, where they were shuffled. */
  readonly order?: RowOrder
}

/** Σπ² of the policy of `layer` at every response token. */
function sumPiSquared(
  config: ModelConfig,
  params: RefArrays,
  cache: RefCache,
  layer: number,
  rows: Rows,
) {
  const { hidden_size: C } = config
  const states = statesOf(config, params, cache, layer, rows)
  return Float64Array.from(rows.response_mask, (mask, i) => {
    if (mask === 0) return 0
    const { response_length: R, first_column, width } = rows
    const m = Math.floor(i / R) * width + first_column + (i % R)
    const z = logitsRef(config, params, states.subarray(m * C, (m + 1) * C))
    const exp = z.map((logit) => Math.exp((logit - Math.max(...z)) / rows.temperature))
    const sum = exp.reduce((a, b) => a + b, 0)
    return exp.reduce((squares, e) => squares + (e / sum) ** 2, 0)
  })
}

/** verl's in-reward KL, where a phase has one: rewards and metrics; changes the coefficient of an
 * adaptive controller. */
function klInReward(
  run: RefRun,
  { algorithm }: RefPhase,
  token_level_scores: Numbers,
  batch: Readonly<Record<'old_log_probs' | 'ref_log_prob' | 'mask', Numbers>>,
  R: number,
): { rewards: Float64Array; metrics: Record<string, number> } {
  const { old_log_probs, ref_log_prob, mask } = batch
  const scores = Float64Array.from(token_level_scores)
  if (!algorithm.use_kl_in_reward) return { rewards: scores, metrics: {} }
  const { kld: kl } = klLossRef(
    { kl_loss_type: algorithm.kl_penalty, kl_loss_coef: 1 },
    { log_probs: old_log_probs, ref_log_prob, loss_weights: mask },
  )
  const rows = Array.from({ length: mask.length / R }, (_, b) => {
    const tokens = Array.from({ length: R }, (_, t) => b * R + t).filter((i) => mask[i] !== 0)
    return tokens.length === 0 ? 0 : mean(tokens.map((i) => kl[i]))
  })
  const { kl_coef } = run
  const { type, target_kl, horizon } = algorithm.kl_ctrl
  const currentKl = mean(rows)
  if (type === 'adaptive') {
    const error = Math.max(-0.2, Math.min(0.2, currentKl / target_kl - 1))
    run.kl_coef *= 1 + (error * rows.length) / horizon
  }
  const rewards = Float64Array.from(scores, (score, i) => {
    if (!algorithm.kl_at_last_token) return score - kl_coef * kl[i]
    const row = Math.floor(i / R) * R
    const tokens = Array.from({ length: R }, (_, t) => row + t).filter((j) => mask[j] !== 0)
    return i === tokens.at(-1)
      ? score - kl_coef * tokens.length * mean(tokens.map((j) => kl[j]))
      : score
  })
  return {
    rewards,
    metrics: {
      'actor/reward_kl_penalty': currentKl,
      'actor/reward_kl_penalty_coeff': kl_coef,
    },
  }
}

/** Differences of the tokens' probabilities, and their correlation. */
function probabilities(train: Numbers, sampled: Numbers, mask: Numbers): Record<string, number> {
  const tokens = Array.from(mask, (_, i) => i).filter((i) => mask[i] !== 0)
  const [p, q] = [train, sampled].map((x) => tokens.map((i) => Math.exp(x[i])))
  const apart = p.map((x, i) => Math.abs(x - q[i]))
  const centred = (x: readonly number[]) => x.map((value) => value - mean(x))
  const dot = (a: readonly number[], b: readonly number[]) =>
    a.reduce((sum, x, i) => sum + x * b[i], 0)
  const [a, b, d] = [centred(p), centred(q), centred(apart)]
  return {
    'training/rollout_probs_diff_valid': 1,
    'training/rollout_probs_diff_max': Math.max(...apart),
    'training/rollout_probs_diff_mean': mean(apart),
    'training/rollout_probs_diff_std': Math.sqrt(dot(d, d) / (tokens.length - 1)),
    'training/rollout_actor_probs_pearson_corr': dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b)),
  }
}

/** Decoupled rollout correction: the mask and weights that are trained with, and metrics; without
 * it all ones. */
function correctedRollout(
  { algorithm: { rollout_correction }, rollout }: RefPhase,
  old_log_prob: Numbers,
  rollout_log_prob: Numbers,
  mask: Numbers,
  R: number,
): { trainedMask: Numbers; weights: Numbers; metrics: Record<string, number> } {
  const { bypass_mode, rollout_is, rollout_rs } = rollout_correction
  const ones = new Float64Array(mask.length).fill(1)
  const isCompared =
    rollout_is !== null ||
    rollout_rs !== null ||
    rollout.calculate_log_probs ||
    (rollout.staleness ?? 0) > 0
  if (bypass_mode || !isCompared) return { trainedMask: mask, weights: ones, metrics: {} }
  // The kernel, which this is the reference of, has weights for `reinforce` alone.
  const correction = { ...rollout_correction, loss_type: 'reinforce' as const }
  const found = rolloutCorrectionRef(correctionParams(correction), {
    log_probs: old_log_prob,
    rollout_log_probs: rollout_log_prob,
    response_mask: mask,
    response_length: R,
  })
  const pair = { old_log_prob, rollout_log_prob, response_mask: mask, response_length: R }
  const reported = {
    ...offpolicyMetrics(pair),
    ...rolloutIsWeights(pair, rollout_correction).metrics,
    ...rolloutRejectionMask(pair, rollout_correction).metrics,
  }
  const metrics = Object.fromEntries(
    Object.entries(reported).map(([name, x]) => [`rollout_corr/${name}`, x]),
  )
  return {
    trainedMask: found.modified_mask,
    weights: rollout_is !== null ? found.rollout_is_weights : ones,
    metrics: { ...metrics, ...probabilities(old_log_prob, rollout_log_prob, mask) },
  }
}

/** The batch under every model before the update, [B, R]. */
function scoreRef(
  run: RefRun,
  phase: RefPhase,
  { batch, rollout_log_probs, sampled_at = [] }: RecordedStep,
) {
  const { config, actor, critic, reference, before } = run
  const { bypass_mode } = phase.algorithm.rollout_correction
  const { target_layer: layer } = phase
  const mask = Float64Array.from(batch.response_mask)
  const rows = rowsOf(batch, phase, 0, batch.rows)
  const cache = actor.forward(rows)
  run.innerOld = innerOldRef(config, actor.params, cache, rows, phase.actor)
  const R = batch.response_length
  const samplers = [...new Set([...sampled_at, before.length])].map((step) => {
    const params = actor.named(before[step - 1])
    const cache = actor.forward(rows, params)
    return { step, ...policyRef(config, params, cache, config.num_hidden_layers, rows) }
  })
  const by = (name: 'log_probs' | 'entropy') =>
    Float64Array.from(mask, (_, i) => {
      const step = sampled_at[Math.floor(i / R)] ?? before.length
      return samplers.find((sampler) => sampler.step === step)?.[name][i] ?? Number.NaN
    })
  const train = policyRef(config, actor.params, cache, layer, rows).log_probs
  const sampled = rollout_log_probs ?? by('log_probs')
  const params = actor.named(reference)
  const ref_log_prob = policyRef(config, params, actor.forward(rows, params), layer, rows).log_probs
  const values =
    critic &&
    readSpan(valuesRef(critic.params, critic.forward(rows)), cache, mask, rows.first_column)
  return {
    mask,
    old_log_probs: bypass_mode ? Float64Array.from(sampled) : train,
    rollout_log_probs: sampled,
    ref_log_prob,
    values,
    sum_pi_squared: sumPiSquared(config, actor.params, cache, layer, rows),
    entropy: sumOf(by('entropy')) / sumOf(mask),
  }
}

/** What a teacher makes of the advantages, [B, R]: opd_kl_coef times the sampled reverse KL comes
 * off each, or off 0; and that KL's mean. */
function taughtAdvantages(
  { teacher }: RefRun,
  phase: RefPhase,
  batch: RolloutBatch,
  { advantages, old_log_probs, mask }: Readonly<Record<string, Float64Array>>,
): { readonly advantages: Float64Array; readonly metrics: Record<string, number> } {
  const { opd_kl_coef, use_task_rewards } = phase.algorithm
  if (!teacher || opd_kl_coef === 0) return { advantages, metrics: {} }
  const { config, model } = teacher
  const rows = rowsOf(batch, phase, 0, batch.rows)
  const layer = config.num_hidden_layers
  const its = policyRef(config, model.params, model.forward(rows), layer, rows).log_probs
  const kl = mask.map((m, i) => (m === 0 ? 0 : old_log_probs[i] - its[i]))
  return {
    advantages: kl.map((x, i) => (use_task_rewards ? advantages[i] : 0) - opd_kl_coef * x),
    metrics: { 'distillation/reverse_kl': sumOf(kl) / sumOf(mask) },
  }
}

/** The bonus acts at or below the target alone. */
function withEntropyTarget({ entropy, entropy_coef }: RefRun, phase: RefPhase): RefPhase {
  const { actor } = phase
  if (!actor.use_adaptive_entropy) return phase
  const entropy_coeff = entropy > actor.entropy_target ? 0 : entropy_coef
  return { ...phase, actor: { ...actor, entropy_coeff } }
}

/** What a step of this entropy makes of the bonus. */
function adaptEntropy(run: RefRun, { actor }: RefPhase, entropy: number): void {
  const { entropy_target, entropy_coef_delta, entropy_coef_min, entropy_coef_max } = actor
  run.entropy = entropy
  const moved = run.entropy_coef + (entropy > entropy_target ? -1 : 1) * entropy_coef_delta
  run.entropy_coef = Math.max(entropy_coef_min, Math.min(entropy_coef_max, moved))
}

/** Everything a step reports but times, work and the probe's entropies; the models of `run` take
 * the step. */
export function stepRef(
  run: RefRun,
  planned: RefPhase,
  recorded: RecordedStep,
): Record<string, number> {
  const { config, critic } = run
  const phase = withEntropyTarget(run, planned)
  run.before.push(Float64Array.from(run.actor.state.weights))
  const { algorithm, rollout } = phase
  const { batch, step, token_level_scores, order, index, reward_baselines } = recorded
  const { response_length: R } = batch
  const scored = scoreRef(run, phase, recorded)
  const { mask, old_log_probs, ref_log_prob, values, sum_pi_squared } = scored
  adaptEntropy(run, phase, scored.entropy)
  const { rewards, metrics: ofKl } = klInReward(run, phase, token_level_scores, scored, R)
  const corrected = correctedRollout(phase, old_log_probs, scored.rollout_log_probs, mask, R)
  const { trainedMask: countedMask, weights } = corrected
  const { bypass_mode, rollout_is } = algorithm.rollout_correction
  const { returns, ...estimated } = computeAdvantages(
    phase.adv_estimator,
    {
      index,
      old_log_probs,
      sum_pi_squared,
      response_length: R,
      token_level_rewards: rewards,
      response_mask: countedMask,
      ...(values && { values }),
      ...(reward_baselines && { reward_baselines }),
      ...(rollout_is !== null && !bypass_mode && { rollout_is_weights: weights }),
    },
    algorithm,
  )
  const known = { ...estimated, old_log_probs, mask: Float64Array.from(countedMask) }
  const { advantages, metrics: ofTeacher } = taughtAdvantages(run, phase, batch, known)
  const trainedMask = Float64Array.from(countedMask, (m, i) =>
    algorithm.mask_truncated_completions && !batch.is_ended[Math.floor(i / R)] ? 0 : m,
  )
  const metrics: Record<string, number> = {
    'actor/entropy': scored.entropy,
    ...(phase.actor.use_adaptive_entropy && { 'actor/entropy_coeff': phase.actor.entropy_coeff }),
    'training/skipped_updates': 0,
    ...ofKl,
    ...ofTeacher,
    ...corrected.metrics,
    ...computeDataMetrics({
      ...batch,
      token_level_scores,
      advantages,
      returns,
      token_level_rewards: rewards,
      response_mask: trainedMask,
      max_response_length: rollout.max_response_length,
      ...(values && { values }),
    }),
  }
  const trained = { ...batch, response_mask: Float32Array.from(trainedMask) }
  if (critic && values) {
    run.criticSteps++
    const columns = { values, returns }
    Object.assign(metrics, updateCritic(critic, config, phase, trained, columns, order))
  }
  if (critic && run.criticSteps < phase.critic.critic_warmup) return metrics
  const columns = { old_log_probs, ref_log_prob, advantages, rollout_is_weights: weights }
  return { ...metrics, ...updateActor(run, phase, trained, columns, step, order) }
}
