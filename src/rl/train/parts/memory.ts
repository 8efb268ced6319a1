// Computes the size of a run's buffers from its configuration alone, before anything is allocated.

import { type Allocator, MemoryPlan } from '../../../kernels/device/base/tensor.ts'
import { STAGE_STAMPS } from '../../../kernels/device/timing/stage_clock.ts'
import { CONTROL } from '../../../kernels/optimizer/optimizer.ts'
import { POLICY_LOSS_SUMS } from '../../../kernels/policy_loss/policy_loss_frame.ts'
import { ROLLOUT_CORRECTION_SUMS } from '../../../kernels/rollout_correction/rollout_correction.ts'
import { ownAdapter } from '../../../model/layout/adapter_layout.ts'
import { bareConfig, type ModelConfig, modelShape } from '../../../model/layout/config.ts'
import { CHUNK } from '../../../model/layout/flat_params.ts'
import { type ParamLayout, paramLayout } from '../../../model/layout/params.ts'
import { gcd } from '../../../model/params/param_buffers.ts'
import { decodedColumns, type RolloutSize } from '../../../model/rollout/rollout_inputs.ts'
import { type OtherWeights, writerOf } from '../../config/distillation.ts'
import { trainedSegments } from '../../config/ever_trained.ts'
import { distillsItself, innerStudents, isDeeplySupervised } from '../../config/inner.ts'
import { lensLayers } from '../../config/lens_places.ts'
import { muonOf } from '../../config/optim.ts'
import {
  isPaired,
  keepsReference,
  optimOf,
  type PairedPhase,
  type Pairs,
  type Phase,
  type RewardModelPhase,
  type RlPhase,
  trainsActor,
} from '../../config/phase.ts'
import { samplingPhase } from '../../config/sampling_phase.ts'
import type { TrainedLayout } from '../../config/trained_segments.ts'
import type { TrainerConfig } from '../../config/trainer_config.ts'
import { everValidates, validationPrompts } from '../../config/validation.ts'
import { driverColumns, needsCritic } from '../../experience/experience.ts'
import { type ActorSize, createActorTensors } from '../../learners/actor_tensors.ts'
import {
  criticPasses,
  microRows,
  microTokens,
  phaseRows,
  shufflesRows,
} from '../../learners/base/batch_rows.ts'
import { type CriticSize, createCriticTensors } from '../../learners/critic_tensors.ts'
import { PhaseLens } from '../../learners/lens/phase_lens.ts'
import { createLayerChangesTensors, layerChangesSize } from '../../look/layer_changes.ts'
import { traceColumns } from '../../look/trace_columns.ts'
import { createRewardTensors, type RewardSize } from '../../reward/reward_training.ts'
import { createSamplerTensors } from './sampler.ts'

/** The layout of what the policy trains: its weights, or the adapter beside them. */
function trainedLayout(model: ModelConfig): TrainedLayout {
  const shape = modelShape(model)
  return ownAdapter(shape) ?? paramLayout(shape)
}

/** Layers that a teacher teaches at once. */
function taughtLayers(phase: Phase): number {
  if (phase.kind === 'distill') return 1 + phase.layers.length
  if (phase.kind !== 'rl' || !distillsItself(phase.actor.inner)) return 0
  return innerStudents(phase.actor.inner).length
}

/** Most layers that learn at once from the model's own policies. */
export const ownTaughtLayers = ({ phases }: TrainerConfig): number =>
  Math.max(
    0,
    ...phases.map((phase) =>
      phase.kind === 'distill' && phase.distillation.teacher === 'model' ? 0 : taughtLayers(phase),
    ),
  )

/** Inner layers that learn by the phase's own objective. */
const supervisedLayers = (phase: Phase): number =>
  phase.kind === 'rl' && isDeeplySupervised(phase.actor.inner)
    ? innerStudents(phase.actor.inner).length
    : 0

/** The actor serves all phases: each of its buffers is as large as the most demanding one needs. */
export function actorSize({
  task,
  model,
  teacher,
  phases: allPhases,
  probe,
  enable_gradient_checkpointing = false,
  use_remove_padding = true,
  matmul,
  fusion,
  trainedBefore,
}: TrainerConfig): ActorSize {
  const phases = allPhases.filter(trainsActor)
  const lengths = allPhases.map((phase) =>
    phase.kind === 'rl' ? phase.rollout.max_response_length : task.max_response_length,
  )
  const response_length = Math.max(...lengths)
  const rows = phases.map((phase) =>
    phaseRows(phase, task.max_prompt_length + response_length, model),
  )
  const updates = phases.map((phase, i) =>
    phase.kind === 'rl' ? (rows[i].batch / rows[i].mini) * phase.actor.ppo_epochs : 1,
  )
  const shuffling = phases.filter((phase) => phase.kind === 'rl' && shufflesRows(phase.actor))
  return {
    prompt_length: task.max_prompt_length,
    response_length,
    // At least one, where no phase trains the policy.
    batchRows: Math.max(1, ...rows.map(({ batch }) => batch)),
    microRows: Math.max(1, ...rows.map(({ micro }) => micro)),
    updates: Math.max(1, ...updates),
    hasMuon: phases.some((phase) => muonOf(optimOf(phase))),
    probeRows: rows.length > 0 ? Math.min(probe.rows, ...rows.map(({ batch }) => batch)) : 1,
    hasReference: phases.some(keepsReference),
    // A named teacher is there for phases that come later, too.
    students: Math.max(teacher ? 1 : 0, ...phases.map(taughtLayers)),
    supervised: Math.max(0, ...phases.map(supervisedLayers)),
    teacher: teacher && paramLayout(modelShape(teacher)),
    hasShuffled: shuffling.length > 0,
    epochs: Math.max(
      1,
      ...shuffling.map((phase) => (phase.kind === 'rl' ? phase.actor.ppo_epochs : 1)),
    ),
    enable_gradient_checkpointing,
    use_remove_padding,
    lensLayers: lensLayers(phases, model),
    kernels: { matmul, fusion },
    trains: trainedSegments(trainedLayout(model), allPhases, trainedBefore),
  }
}

/** The critic's size; undefined when no phase has one. */
export function criticSize(config: TrainerConfig): CriticSize | undefined {
  const phases = config.phases
    .filter((phase) => phase.kind === 'rl')
    .filter((phase) => needsCritic(phase))
  if (phases.length === 0) return undefined
  const { prompt_length, response_length, kernels, ...size } = actorSize(config)
  const updates = phases.map((phase) => {
    const cut = phaseRows(phase, prompt_length + response_length, config.model)
    const { rows, epochs } = criticPasses(phase, cut)
    return (rows.batch / rows.mini) * epochs
  })
  return {
    rows: size.batchRows,
    response_length,
    updates: Math.max(...updates),
    hasMuon: phases.some(({ critic }) => muonOf(critic.optim)),
    hasShuffled: size.hasShuffled ?? false,
    ...(kernels && { kernels }),
  }
}

const rewardPhases = ({ phases }: TrainerConfig): RewardModelPhase[] =>
  phases.filter((phase) => phase.kind === 'reward_model')

const pairedPhases = ({ phases }: TrainerConfig): PairedPhase[] => phases.filter(isPaired)

/** The reward model's size, one model for all phases; undefined when no phase trains one. */
export function rewardSize(config: TrainerConfig): RewardSize | undefined {
  const phases = rewardPhases(config)
  if (phases.length === 0) return undefined
  const { prompt_length, response_length } = actorSize(config)
  const width = prompt_length + response_length
  // Both responses of as many pairs as go through at once, a divisor of every batch.
  const pairs = phases.map(({ batch_size }) => batch_size).reduce(gcd)
  const rows = 2 * microRows(pairs, 2 * width, microTokens(config.model))
  const whole = (count: number) => Math.ceil(count / rows) * rows
  const step = phases.map(({ batch_size, pairs: { held_out } }) => [batch_size, held_out])
  const scored = config.phases.map((phase) => {
    if (phase.kind === 'rl' && phase.reward_model.enable) return rolloutSize(config, phase).rows
    const judges = phase.kind === 'preference' && phase.reward_model?.enable
    return judges ? pairSize(config, phase.pairs).rows : 0
  })
  const scores = [...step.map(([a, b]) => whole(2 * a) + whole(2 * b)), ...scored.map(whole)]
  const hasMuon = phases.some(({ optim }) => muonOf(optim))
  return { rows, width, scores: Math.max(...scores), matmul: config.matmul, hasMuon }
}

/** The layout of the reward model's weights. */
export const rewardLayout = ({ model }: TrainerConfig): ParamLayout =>
  paramLayout(modelShape(bareConfig(model)), 'reward_head')

/** Responses that are sampled at a time to make pairs of them. */
const PAIR_ROWS = 64
/** Tokens of them that lie in memory at once: longer responses are decoded in groups, with the same
 * tokens. */
const PAIR_TOKENS = 8192

/** The rollout that makes pairs of n responses to each prompt. */
export function pairSize(
  config: TrainerConfig,
  { n = 2 }: Pairs,
): RolloutSize & { readonly n: number } {
  const { prompt_length, response_length } = actorSize(config)
  const wanted = pairedPhases(config).map(({ pairs }) => pairs.count + pairs.held_out)
  const prompts = Math.floor(Math.min(PAIR_ROWS, n * Math.max(...wanted)) / n)
  const tokens = n * (prompt_length + response_length)
  let groups = 1
  while (groups < prompts && (prompts % groups > 0 || (prompts / groups) * tokens > PAIR_TOKENS))
    groups++
  return {
    rows: prompts * n,
    n,
    prompt_length,
    response_length,
    ...(groups > 1 && { groupRows: (prompts / groups) * n }),
  }
}

/** The layout of the critic's weights. */
/** All weights of a critic are trained, also beside a policy with an adapter, as by verl where
 * critic.model.lora_rank is 0. */
export const criticLayout = ({ model }: TrainerConfig): ParamLayout =>
  paramLayout(modelShape(bareConfig(model)), 'value_head')

/** Whether a run ever measures the entropy changes of its layers' modules. */
export const measuresChanges = ({ probe, validation }: TrainerConfig): boolean =>
  (probe.internals ?? false) && validation.test_freq !== null

export function rolloutSize(
  { task, tools = [] }: TrainerConfig,
  { rollout }: RlPhase,
): RolloutSize {
  const { max_turns = 1 } = rollout
  return {
    rows: rollout.train_batch_size * rollout.n,
    n: rollout.n,
    prompt_length: task.max_prompt_length,
    response_length: rollout.max_response_length,
    ...(tools.length > 0 && max_turns > 1 && { max_turns }),
    ...(rollout.dtype && { dtype: rollout.dtype }),
  }
}

/** Rows of validation's own rollout: more would be quicker, and take memory that is idle most of
 * the time. */
const VALIDATION_ROWS = 64

/** Validation borrows the rollout of the last reinforcement phase where that has one response to
 * each prompt; training and validation then share it. Where training has more, validation has a
 * smaller rollout of its own. */
export function validationSize(config: TrainerConfig): RolloutSize {
  const { task, validation } = config
  const rl = config.phases.filter((phase) => phase.kind === 'rl').at(-1)
  const { max_prompt_length: prompt_length, max_response_length: response_length } = task
  const prompts = Math.max(1, validationPrompts(validation, task))
  if (!rl) return { rows: Math.min(256, prompts), n: 1, prompt_length, response_length }
  const size = rolloutSize(config, rl)
  if (size.n === 1) return size
  const rows = Math.min(size.rows, VALIDATION_ROWS, prompts * Math.max(1, validation.n))
  return { ...size, rows, n: 1 }
}

/** One rollout serves all phases of the same size. */
export const sizeKey = (size: RolloutSize): string => {
  const { rows, n, response_length, max_turns = 1, dtype = 'float32', groupRows = rows } = size
  return [rows, groupRows, response_length, n, dtype, max_turns].join(' ')
}

/** The same of the rollouts of the policy and of other weights. */
export const samplerKey = (size: RolloutSize, writer?: OtherWeights): string =>
  writer ? `${writer} ${sizeKey(size)}` : sizeKey(size)

/** The rollouts of teachers that write what their students learn from. */
export function teacherRollouts(
  config: TrainerConfig,
): { readonly writer: OtherWeights; readonly size: RolloutSize }[] {
  const { max_response_length } = config.task
  const all = config.phases.flatMap((phase) => {
    const writer = phase.kind === 'distill' ? writerOf(phase.distillation) : undefined
    if (phase.kind !== 'distill' || !writer) return []
    return [{ writer, size: rolloutSize(config, samplingPhase(phase, max_response_length)) }]
  })
  return [...new Map(all.map((one) => [samplerKey(one.size, one.writer), one])).values()]
}

export function rolloutSizes(config: TrainerConfig): RolloutSize[] {
  const phases = config.phases.filter((phase) => phase.kind === 'rl')
  const sizes = phases.map((phase) => rolloutSize(config, phase))
  for (const { pairs } of pairedPhases(config))
    if (pairs.source !== 'file') sizes.push(pairSize(config, pairs))
  for (const phase of config.phases)
    if (phase.kind === 'distill' && phase.distillation.lmbda > 0)
      sizes.push(rolloutSize(config, samplingPhase(phase, config.task.max_response_length)))
  if (everValidates(config.validation)) sizes.push(validationSize(config))
  return [...new Map(sizes.map((size) => [sizeKey(size), size])).values()]
}

/** Room for the readbacks that may be on their way at once: the metrics of two steps, and
 * responses. */
export function reserveReads(alloc: Allocator, config: TrainerConfig): void {
  // Log-probs and entropies of rows with several turns are read together.
  const sizes = [...rolloutSizes(config), ...teacherRollouts(config).map(({ size }) => size)]
  const responses = sizes.map((size) => size.rows * decodedColumns(size) * (size.max_turns ? 2 : 1))
  const { updates, students = 0, supervised = 0, epochs = 1 } = actorSize(config)
  const layers = config.model.num_hidden_layers + 1
  // Where a step has no critic, no rollout or no measured changes, the loss sums are read in place
  // of theirs.
  const sums =
    4 * POLICY_LOSS_SUMS.length +
    ROLLOUT_CORRECTION_SUMS.length +
    Math.max(POLICY_LOSS_SUMS.length, students) +
    Math.max(POLICY_LOSS_SUMS.length, CHUNK * supervised)
  const changes = measuresChanges(config) ? layerChangesSize(config.model) : 0
  // Beside the records of every update, where its gradients were not finite; and the token that was
  // not.
  const criticUpdates = Math.max(updates, criticSize(config)?.updates ?? 0)
  const records = (updates + criticUpdates) * (CONTROL.length + 1) + epochs
  const metrics = sums + records + layers + changes + STAGE_STAMPS
  const scores = sums + CONTROL.length + 1 + (rewardSize(config)?.scores ?? 0)
  alloc.reserveReads(4 * Math.max(metrics, scores, ...responses, ...driverReads(config)), 3)
  const traced = traceRead(config)
  if (traced > 0) alloc.reserveReads(4 * traced, 1)
}

/** Elements that a traced step reads back. */
function traceRead(config: TrainerConfig): number {
  const { batchRows, response_length } = actorSize(config)
  const arrays = config.phases.map((phase) =>
    phase.kind === 'rl' ? traceColumns(phase).length : 0,
  )
  return Math.max(0, ...arrays) * batchRows * response_length
}

/** Elements that phases read back for their advantages. */
function driverReads(config: TrainerConfig): number[] {
  const { batchRows, response_length } = actorSize(config)
  return config.phases.map((phase) => {
    // Log-probs of policy and reference, and sums of squares.
    if (phase.kind === 'preference') return 3 * batchRows * response_length
    if (phase.kind !== 'rl') return 0
    // The rollout's log-probs come with its responses, and its entropies where a batch is chosen
    // from several.
    const arrays = driverColumns(phase).length + 1 + (phase.algorithm.filter_groups.enable ? 1 : 0)
    return arrays * batchRows * response_length
  })
}

/** Adds up every tensor that `Trainer.create` allocates, by running its constructors without a
 * device. */
export function planMemory(config: TrainerConfig, plan = new MemoryPlan()): MemoryPlan {
  const layout = paramLayout(modelShape(config.model))
  const actor = createActorTensors(plan, layout, actorSize(config))
  if (measuresChanges(config)) createLayerChangesTensors(plan, actor)
  PhaseLens.room(plan, layout.shape, actorSize(config))
  const critic = criticSize(config)
  if (critic) createCriticTensors(plan, criticLayout(config), critic)
  const reward = rewardSize(config)
  if (reward) createRewardTensors(plan, rewardLayout(config), reward)
  for (const size of rolloutSizes(config)) createSamplerTensors(plan, layout.shape, size)
  const { teacher } = config
  for (const { writer, size } of teacherRollouts(config)) {
    const shape = writer === 'model' && teacher ? modelShape(teacher) : layout.shape
    createSamplerTensors(plan, shape, size)
  }
  reserveReads(plan, config)
  return plan
}
