// Takes one step of reinforcement learning in the order in which it happens: sample, score, old and
// reference log-probs, values, advantages, critic, actor, probe, report. Calls queue work on the
// GPU; every `await` waits for a readback.

import { asksTeacher } from '../config/algorithm.ts'
import { isDeeplySupervised } from '../config/inner.ts'
import type { RlPhase } from '../config/phase.ts'
import type { RolloutBatch } from '../experience/batch.ts'
import { rewardComponents } from '../experience/drawn_batch.ts'
import {
  driverColumns,
  type Experience,
  needsCritic,
  needsPiSquared,
  needsReference,
  type ScoredBatch,
} from '../experience/experience.ts'
import type { BatchColumns } from '../experience/training_batch.ts'
import { type BatchRows, criticPasses, shufflesRows } from '../learners/base/batch_rows.ts'
import type { Critic } from '../learners/critic.ts'
import { maskedMeanRows } from '../math/masked.ts'
import type { RowOrder } from '../math/shuffle.ts'
import { computeTimingMetrics } from '../metrics/data_metrics.ts'
import { rlMetrics } from '../metrics/metrics.ts'
import type { Drawn } from './responses/responder.ts'
import { dealtScores } from './stages/dealt_scores.ts'
import { type Learned, readColumns, timed, timedExperience } from './stages/driver.ts'
import { followEntropy } from './stages/entropy_control.ts'
import { fitLens } from './stages/fit_lens.ts'
import { readNumbers } from './stages/readback.ts'
import { reportSamples } from './stages/reported_samples.ts'
import type { TakenStep } from './stages/taken_step.ts'
import { traceTokens } from './stages/token_trace.ts'
import { rowOrderOf, rowsOf, type Training, uploadProbe } from './stages/training.ts'

/** What the stages of a step share. */
interface RlStep {
  readonly phase: RlPhase
  readonly rows: BatchRows
  /** The order of the rows in every epoch, where the phase shuffles them. */
  readonly order: RowOrder | undefined
  readonly critic: Critic | undefined
  readonly actorLr: number
  readonly criticLr: number
}

/** Trains the policy of `target_layer` for one step; responses always come from the final
 * policy. */
export async function reinforcementStep(
  training: Training,
  planned: RlPhase,
  actorLr: number,
): Promise<TakenStep> {
  const { gpu, responder, parts, progress } = training
  const { phase, adapt } = await followEntropy(training, planned)
  const step = beginStep(training, phase, actorLr)

  // Sample n responses to each prompt, then score them.
  gpu.stage('gen')
  const scorer = phase.reward_model.enable ? parts.reward : undefined
  const reward = scorer && ((rows: RolloutBatch) => scorer.score(rows))
  const lastStep = progress.step + phase.steps - progress.phase_step
  const request = { phase, step: progress.step, lastStep, reward }
  const [sampled, gen] = await timed(() => responder.sample(request))
  const [drawn, scoring] = await timed(() => responder.score(request, sampled))
  const difficulty = responder.learn(sampled, drawn)
  // Where the phase reads through a translator, its first step fits it.
  const { n } = phase.rollout
  const lens = await fitLens(training, phase, drawn.batch, {
    prompts: drawn.batch.rows / n,
    promptOf: (row) => Math.floor(row / n),
  })
  // A write ends what was recorded before it, so the probe's rows go up first.
  const probeTokens = uploadProbe(training, drawn.batch)

  // Old and reference log-probs, values and, from them, advantages.
  const { experience, values, adv } = await prepareExperience(training, step, drawn)
  const response_mask = Float32Array.from(experience.response_mask ?? drawn.batch.response_mask)
  const trained: RolloutBatch = { ...drawn.batch, response_mask }

  // First the critic, then the actor, on the same rows.
  const isObserved = training.observer.takesTokens(progress.step)
  const isTraced = isObserved || training.wantsTrace || training.isMoment
  training.wantsTrace = false
  if (isTraced) parts.actor.beginTrace()
  updateCritic(training, step, trained, experience)
  updateActor(training, step, trained)
  const tracing = isTraced && traceTokens(training, { ...step, drawn, experience, trained })

  // Probe the layers and report.
  const { batch, sampler } = drawn
  const advantages = maskedMeanRows(experience.advantages, response_mask, batch.response_length)
  const metrics = {
    ...rlMetrics(phase, drawn, { ...experience, response_mask }, values),
    ...computeTimingMetrics(batch, { gen, reward: scoring }),
    ...computeTimingMetrics(batch, { adv }),
    ...difficulty,
    ...lens,
    ...(phase.actor.use_adaptive_entropy && { 'actor/entropy_coeff': phase.actor.entropy_coeff }),
  }
  const samples = reportSamples(drawn, advantages)
  const reading = readNumbers(training, { ...step, batch, probeTokens, metrics, sampler })
  adapt(reading)
  training.seen = { batch, rows: 'responses' }
  return { samples, reading, rollout: batch, ...(tracing && { tracing }) }
}

function beginStep(training: Training, phase: RlPhase, actorLr: number): RlStep {
  const { parts, progress } = training
  parts.actor.beginStep()
  parts.critic?.beginStep()
  const critic = needsCritic(phase) ? parts.critic : undefined
  if (critic && progress.critic_step++ === 0) beginCritic(training, critic, phase)
  const rows = rowsOf(training, phase)
  const order = rowOrderOf(training, phase, rows.batch)
  return { phase, rows, order, critic, actorLr, criticLr: progress.criticLr }
}

/** The critic of a stage begins at its first step that has one. */
function beginCritic({ parts, layout }: Training, critic: Critic, phase: RlPhase): void {
  if (phase.critic.model.init === 'actor') {
    critic.begin(parts.actor.tensors.model.weights, layout)
    return
  }
  const { reward } = parts
  if (!reward) throw new Error('trainer: there is no reward model for the critic to begin as')
  critic.begin(reward.tensors.model.weights, reward.layout)
}

/** Uploads the batch, scores it under every model, makes its advantages and uploads them. Only what
 * the estimator asks for comes back from the GPU: nothing for plain GRPO, whose advantages go up
 * with the batch. */
async function prepareExperience(training: Training, step: RlStep, drawn: Drawn): Promise<Learned> {
  const { parts, progress, config } = training
  const { actor } = parts
  const { phase, rows } = step
  const { batch, rollout_log_probs, reward_baselines } = drawn
  const reward_components = rewardComponents(drawn, config.reward)
  const scored: ScoredBatch = {
    response_length: batch.response_length,
    response_mask: batch.response_mask,
    token_level_scores: phase.algorithm.shuffle_scores
      ? dealtScores(drawn, config.seed, progress.step)
      : drawn.token_level_scores,
    index: drawn.index,
    is_ended: batch.is_ended,
    ...(reward_baselines && { reward_baselines }),
    ...(reward_components && { reward_components }),
    ...(rollout_log_probs && { rollout_log_probs }),
  }
  const kl = progress.klOf(phase.algorithm)
  const columns = driverColumns(phase)
  if (columns.length === 0) {
    const learned = timedExperience(phase, scored, kl)
    actor.upload(batch, rows, updatedColumns(learned.experience))
    scoreBatch(training, step)
    return learned
  }
  actor.upload(batch, rows)
  scoreBatch(training, step)
  if (phase.algorithm.rollout_correction.bypass_mode && rollout_log_probs)
    actor.uploadColumns({ old_log_probs: rollout_log_probs })
  const read = await readColumns(training, columns, rows.batch)
  const learned = timedExperience(phase, { ...scored, ...read }, kl)
  actor.uploadColumns(updatedColumns(learned.experience))
  return { ...learned, ...(read.values && { values: read.values }) }
}

/** What the updates read of an experience. */
const updatedColumns = ({
  advantages,
  rollout_is_weights,
  response_mask,
}: Experience): BatchColumns => ({
  advantages: Float32Array.from(advantages),
  ...(rollout_is_weights && { rollout_is_weights: Float32Array.from(rollout_is_weights) }),
  ...(response_mask && { response_mask: Float32Array.from(response_mask) }),
})

/** Old and reference log-probs and values of the uploaded batch, before any update. */
function scoreBatch({ gpu, parts }: Training, { phase, rows, critic }: RlStep): void {
  const { bypass_mode } = phase.algorithm.rollout_correction
  gpu.stage('old_log_prob')
  const later = knowsOldInUpdate(phase) ? rows.mini : 0
  if (!bypass_mode || needsPiSquared(phase)) parts.actor.computeLogProbs(phase, rows, later)
  if (isDeeplySupervised(phase.actor.inner)) parts.actor.computeInnerLogProbs(phase, rows)
  if (asksTeacher(phase)) parts.actor.computeTeacherLogProbs(phase, rows)
  gpu.stage('ref')
  if (needsReference(phase)) parts.actor.computeRefLogProb(phase, rows)
  gpu.stage('values')
  critic?.computeValues(rows)
}

/** Whether the first mini-batch's old log-probs can be those that its own update reads: nobody asks
 * for them earlier. */
const knowsOldInUpdate = (phase: RlPhase): boolean =>
  driverColumns(phase).length === 0 && !shufflesRows(phase.actor)

function updateCritic(
  { gpu }: Training,
  { phase, rows, order, critic, criticLr }: RlStep,
  trained: RolloutBatch,
  experience: Experience,
): void {
  gpu.stage('update_critic')
  if (!critic) return
  const passes = criticPasses(phase, rows)
  critic.update(trained, Float32Array.from(experience.returns), phase.critic, passes.rows, {
    epochs: passes.epochs,
    lr: criticLr,
    order,
    isLegacy: phase.actor.use_legacy_worker_impl === 'enable',
    max_response_length: phase.rollout.max_response_length,
  })
}

/** The actor rests while its critic warms up. */
function updateActor(
  { gpu, parts, progress }: Training,
  { phase, rows, order, critic, actorLr }: RlStep,
  trained: RolloutBatch,
): void {
  gpu.stage('update_actor')
  if (!critic || progress.critic_step >= phase.critic.critic_warmup)
    parts.actor.updatePolicy(trained, phase, rows, {
      lr: actorLr,
      step: progress.step,
      phase_step: progress.phase_step,
      order,
    })
}
