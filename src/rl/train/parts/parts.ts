// Creates the parts of a trainer: the models, rollouts and measurements that its configuration asks
// for.
import type { Gpu } from '../../../kernels/device/gpu.ts'
import { initialAdapter, ownAdapter } from '../../../model/layout/adapter_layout.ts'
import { modelShape } from '../../../model/layout/config.ts'
import { initialWeights, paramLayout } from '../../../model/layout/params.ts'
import { lensPlaces } from '../../config/lens_places.ts'
import { type Phase, trainsActor } from '../../config/phase.ts'
import type { TrainerConfig } from '../../config/trainer_config.ts'
import { needsCritic } from '../../experience/experience.ts'
import { Actor } from '../../learners/actor.ts'
import { teachingModel } from '../../learners/actor_programs.ts'
import type { ActorSize } from '../../learners/actor_tensors.ts'
import { phaseRows, shufflesRows } from '../../learners/base/batch_rows.ts'
import { Critic } from '../../learners/critic.ts'
import { createCriticTensors } from '../../learners/critic_tensors.ts'
import { PhaseLens } from '../../learners/lens/phase_lens.ts'
import { LayerChanges } from '../../look/layer_changes.ts'
import { RewardTraining } from '../../reward/reward_training.ts'
import {
  actorSize,
  criticLayout,
  criticSize,
  measuresChanges,
  reserveReads,
  rewardLayout,
  rewardSize,
  rolloutSizes,
  samplerKey,
  sizeKey,
  teacherRollouts,
} from './memory.ts'
import { Sampler } from './sampler.ts'
import { turnFormat } from './turns.ts'

export interface Parts {
  readonly actor: Actor
  readonly critic: Critic | undefined
  readonly reward: RewardTraining | undefined
  /** The rollouts by their size. */
  readonly samplers: Map<string, Sampler>
  readonly changes: LayerChanges | undefined
  /** Where a phase reads its layer through a translator. */
  readonly lens: PhaseLens | undefined
}

/** Allocates everything, uploads seeded weights and records what the first phase of the policy
 * needs; prepareParts records the rest. */
export async function createParts(
  gpu: Gpu,
  config: TrainerConfig,
  onProgress: (message: string) => void,
): Promise<Parts> {
  const layout = paramLayout(modelShape(config.model))
  const weights = initialWeights(layout, config.seed)
  const beside = ownAdapter(layout.shape)
  const factors = beside && initialAdapter(beside, config.seed)
  const near = config.phases.filter(trainsActor).slice(0, 1)
  const actor = await Actor.create(gpu, layout, actorSize(config), near, { weights, factors })
  const critic = await createCritic(gpu, config, actor)
  const reward = await createReward(gpu, config)
  const samplers = new Map<string, Sampler>()
  await addSamplers(gpu, config, actor, samplers, onProgress)
  reserveReads(gpu, config)
  const changes = measuresChanges(config)
    ? await LayerChanges.create(gpu, actor.tensors)
    : undefined
  const size = actorSize(config)
  const lens = PhaseLens.create(gpu, actor.tensors, size)
  if (lens) await prepareLens(lens, near, config)
  return { actor, critic, reward, samplers, changes, lens }
}

/** Whether parts that were made for one configuration serve another: buffers keep their sizes, and
 * what it trains has its own. */
export function servesToo(made: TrainerConfig, other: TrainerConfig): boolean {
  const [trained, wanted] = [actorSize(made).trains, actorSize(other).trains]
  return sizesOf(made) === sizesOf(other) && !wanted?.some((wants, i) => wants && !trained?.[i])
}

const sizesOf = (config: TrainerConfig): string =>
  JSON.stringify([
    { ...actorSize(config), trains: undefined },
    criticSize(config),
    rewardSize(config),
    measuresChanges(config),
  ])

/** Whether createParts has recorded what a phase needs. */
export const isNear = ({ phases }: TrainerConfig, phase: number): boolean =>
  phase <= phases.findIndex(trainsActor)

/** Records what all phases, of the same sizes, need and is not there yet. */
export async function prepareParts(
  gpu: Gpu,
  { actor, critic, reward, samplers, lens }: Parts,
  config: TrainerConfig,
): Promise<void> {
  await actor.prepare(config.phases.filter(trainsActor))
  if (lens) await prepareLens(lens, config.phases, config)
  if (reward) await prepareReward(reward, config)
  if (critic) await prepareCritic(critic, config, actor.size)
  await addSamplers(gpu, config, actor, samplers)
}

async function addSamplers(
  gpu: Gpu,
  config: TrainerConfig,
  { tensors }: Actor,
  samplers: Map<string, Sampler>,
  onProgress: (message: string) => void = () => {},
): Promise<void> {
  const stops = turnFormat(config)?.stopTokenIds
  for (const size of rolloutSizes(config)) {
    const key = sizeKey(size)
    if (samplers.has(key)) continue
    const { tokenizer } = config.task
    const sampler = await Sampler.create(gpu, tensors.model, size, tokenizer, stops)
    samplers.set(key, sampler)
    if (sampler.rollout.fallback_reason) onProgress(sampler.rollout.fallback_reason)
  }
  for (const { writer, size } of teacherRollouts(config)) {
    const key = samplerKey(size, writer)
    const model = teachingModel(tensors, writer)
    if (samplers.has(key) || !model) continue
    samplers.set(key, await Sampler.create(gpu, model, size, config.task.tokenizer))
  }
}

/** The critic of the phases that have one. Its transformer is copied from the actor at its first
 * step of a stage. */
async function createCritic(
  gpu: Gpu,
  config: TrainerConfig,
  actor: Actor,
): Promise<Critic | undefined> {
  const size = criticSize(config)
  if (!size) return undefined
  const layout = criticLayout(config)
  const tensors = createCriticTensors(gpu, layout, size)
  const weights = initialWeights(layout, config.seed)
  const { batch, shuffled } = actor
  const shared = { batch, shuffled, workspace: actor.tensors.workspace }
  const critic = await Critic.create(gpu, layout, tensors, shared, weights)
  await prepareCritic(critic, config, actor.size)
  return critic
}

async function prepareCritic(
  critic: Critic,
  { phases, model }: TrainerConfig,
  { prompt_length, response_length }: ActorSize,
): Promise<void> {
  const width = prompt_length + response_length
  for (const phase of phases)
    if (phase.kind === 'rl' && needsCritic(phase))
      await critic.prepare(
        phaseRows(phase, width, model).micro,
        phase.critic.loss_agg_mode,
        shufflesRows(phase.actor),
        phase.critic.optim,
      )
}

/** The reward model of the phases that train one. Its transformer is copied from the actor when
 * such a phase begins. */
async function createReward(gpu: Gpu, config: TrainerConfig): Promise<RewardTraining | undefined> {
  const size = rewardSize(config)
  if (!size) return undefined
  const layout = rewardLayout(config)
  const { seed, task } = config
  const weights = initialWeights(layout, seed)
  const reward = await RewardTraining.create(gpu, layout, weights, {
    seed,
    size,
    pad_token_id: task.tokenizer.pad_token_id,
  })
  await prepareReward(reward, config)
  return reward
}

async function prepareLens(
  lens: PhaseLens,
  phases: readonly Phase[],
  { model }: TrainerConfig,
): Promise<void> {
  for (const phase of phases) await lens.prepare(lensPlaces(phase, model))
}

async function prepareReward(reward: RewardTraining, { phases }: TrainerConfig): Promise<void> {
  for (const phase of phases) if (phase.kind === 'reward_model') await reward.prepare(phase)
}
