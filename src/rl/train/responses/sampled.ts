// Holds one batch of responses as the policy samples them, before anything scores them.

import type { Gpu } from '../../../kernels/device/gpu.ts'
import type { RolloutSize } from '../../../model/rollout/rollout_inputs.ts'
import type { Sample } from '../../../tasks/task/task.ts'
import type { OtherWeights } from '../../config/distillation.ts'
import type { RlPhase } from '../../config/phase.ts'
import type { TrainerConfig } from '../../config/trainer_config.ts'
import { estimatorOf } from '../../estimators/advantages.ts'
import {
  type BatchTurns,
  promptBatch,
  type RolloutBatch,
  responseMask,
} from '../../experience/batch.ts'
import { driverColumns } from '../../experience/experience.ts'
import { sum } from '../../math/stats.ts'
import { rolloutSize, samplerKey } from '../parts/memory.ts'
import type { Sampler } from '../parts/sampler.ts'
import { conversationSetting, type Responded, respond } from '../parts/turns.ts'
import { type Judge, penalised } from './judge.ts'
import type { TrainingData } from './training_data.ts'

/** The counter-based generator's stream for training; pairs and validation have their own. */
const TRAIN_STREAM = 0

/** Scores whole responses, one number each; [B]. */
export type RewardScorer = (batch: RolloutBatch) => Promise<ArrayLike<number>>

/** Responses as they came from the rollout: n to each prompt, side by side. */
export interface Sampled {
  /** Of each row, [B]. */
  readonly samples: readonly Sample[]
  /** Where the problem of each group lies (TrainingData.at), [N]. */
  readonly places: readonly number[]
  /** [B, R] */
  readonly response_ids: Uint32Array
  readonly turns?: BatchTurns
  readonly log_probs?: Float32Array
  /** Where a batch is made of several. */
  readonly entropy?: Float32Array
  /** ReMax's, [B]. */
  readonly baselines?: readonly number[]
  readonly sampler?: Sampler
  readonly metrics?: Readonly<Record<string, number>>
}

/** What sampling works with. */
export interface SamplingParts {
  readonly gpu: Gpu
  readonly config: TrainerConfig
  readonly samplers: ReadonlyMap<string, Sampler>
  readonly judge: Judge
  readonly data: TrainingData
}

/** One step's request for responses. */
export interface SamplingRequest {
  readonly phase: RlPhase
  readonly step: number
  /** The last step that samples may wait for; default: this one. */
  readonly lastStep?: number
  /** The reward model, where the phase is scored by one. */
  readonly reward: RewardScorer | undefined
  /** Whose weights sample, where they are not the policy's. */
  readonly writer?: OtherWeights | undefined
}

/** The rollout of that size, of the policy or of other weights. */
export function samplerOf(
  samplers: ReadonlyMap<string, Sampler>,
  size: RolloutSize,
  writer?: OtherWeights,
): Sampler {
  const sampler = samplers.get(samplerKey(size, writer))
  if (!sampler) throw new Error(`trainer: no rollout of ${samplerKey(size, writer)}`)
  return sampler
}

/** Samples n responses to each of the next prompts, or of those at `places`. `genBatch` counts the
 * batches of one step: each draws its own random numbers. */
export async function sampleBatch(
  parts: SamplingParts,
  request: SamplingRequest,
  genBatch = 0,
  places: readonly number[] = parts.data.takePlaces(request.phase.rollout.train_batch_size),
): Promise<Sampled> {
  const { phase } = request
  const { n } = phase.rollout
  const samples = rowSamples(parts, places, n)
  const sampler = samplerOf(parts.samplers, rolloutSize(parts.config, phase), request.writer)
  const baselines = await greedyBaselines(parts, request, sampler, samples)
  const needsLogProbs = driverColumns(phase).includes('rollout_log_probs')
  const keepsEntropy = phase.algorithm.filter_groups.enable || isStale(phase)
  const extra = [
    ...(needsLogProbs ? (['log_probs'] as const) : []),
    ...(keepsEntropy ? (['entropy'] as const) : []),
  ]
  const change = { row_offset: genBatch * samples.length }
  const responded = await generate(parts, request, sampler, samples, { change, columns: extra }) // readback 1
  const { response_ids, turns, placed, read } = responded
  if (placed) sampler.count(placed)
  return {
    samples,
    places,
    response_ids,
    sampler,
    ...(turns && { turns }),
    ...(baselines && { baselines }),
    ...(needsLogProbs && { log_probs: read[0] }),
    ...(keepsEntropy && { entropy: read.at(-1) as Float32Array }),
  }
}

/** Whether a phase trains on samples of an earlier policy. */
export const isStale = ({ rollout }: Pick<RlPhase, 'rollout'>): boolean =>
  (rollout.staleness ?? 0) > 0

/** The problem of each row, [B]. */
export const rowSamples = (
  { data }: Pick<SamplingParts, 'data'>,
  places: readonly number[],
  n: number,
): Sample[] =>
  places.flatMap((place) => {
    const sample = data.at(place)
    return Array.from({ length: n }, () => sample)
  })

/** The mean entropy of the written tokens, in nats, of a batch that no rollout holds as it is. */
export function meanEntropy(
  { config }: Pick<SamplingParts, 'config'>,
  R: number,
  {
    response_ids,
    turns,
    entropy = [],
  }: Pick<Sampled, 'response_ids' | 'turns'> & {
    readonly entropy?: ArrayLike<number>
  },
): number {
  const mask =
    turns?.response_mask ?? responseMask(response_ids, R, config.task.tokenizer.eos_token_ids)
  return sum(mask.map((m, i) => (m ? entropy[i] : 0))) / sum(mask)
}

/** ReMax's baseline: the score of a greedy response to each row's prompt. */
async function greedyBaselines(
  parts: SamplingParts,
  request: SamplingRequest,
  sampler: Sampler,
  samples: readonly Sample[],
): Promise<readonly number[] | undefined> {
  const { phase, reward } = request
  if (!estimatorOf(phase.adv_estimator).needs.includes('reward_baselines')) return undefined
  const responded = await generate(parts, request, sampler, samples, { change: { temperature: 0 } })
  const { max_response_length } = phase.rollout
  const { batch, scores } = await parts.judge.judge(samples, responded, max_response_length)
  return reward ? Array.from(await reward(batch)) : penalised(phase, scores, batch)
}

/** One response to each sample; `samples` holds each of them n times in a row. `change` asks for
 * another draw, e.g. a greedy one; `columns` for numbers of every token. */
function generate(
  { gpu, config }: SamplingParts,
  { phase, step }: SamplingRequest,
  { rollout }: Sampler,
  samples: readonly Sample[],
  {
    change,
    columns = [],
  }: {
    readonly change: { readonly temperature?: number; readonly row_offset?: number }
    readonly columns?: readonly ('log_probs' | 'entropy')[]
  },
): Promise<Responded> {
  const { seed, task } = config
  const sampling = { row_offset: 0, ...phase.rollout, ...change, seed, stream: TRAIN_STREAM, step }
  const distinct = samples.filter((_, b) => b % phase.rollout.n === 0)
  const { eos_token_ids } = task.tokenizer
  const setting = conversationSetting(config, phase.rollout)
  const prompts = promptBatch(distinct, task)
  return respond(gpu, rollout, { prompts, sampling, samples, setting, eos_token_ids }, ...columns)
}
